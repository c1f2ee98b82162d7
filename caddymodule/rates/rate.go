package rates

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Rate says how fast crawlers may ask, and what is done about those that are
// faster. What a crawler is asked for is the `Crawl-delay` of the group that it obeys,
// in the version of the robots.txt that it has read.
type Rate struct {
	// What to do about requests that are one too many: `observe` counts them, `enforce`
	// answers them with 429. Default: `observe`.
	Mode string `json:"mode,omitempty"`

	// What to do about those of search engines: `observe` never answers one with 429,
	// `enforce` no more than one in twenty, and none after a day without a pause. Default:
	// `observe`.
	Search string `json:"search,omitempty"`

	// Leave out what the robots.txt asks for by `Crawl-delay`, so that the limits count
	// alone.
	IgnoreDelay bool `json:"ignore_crawl_delay,omitempty"`

	// How fast some crawlers may ask, beside what the robots.txt asks of them: the
	// stricter holds.
	Limits []Limit `json:"limits,omitempty"`

	// The longest `Crawl-delay` that counts; longer ones count as this. Default: `30s`.
	MaxDelay caddy.Duration `json:"max_delay,omitempty"`

	// How many requests may come at once, whatever the delay. Default: `10`.
	Burst int `json:"burst,omitempty"`

	// From when on a crawler is too fast: where it asks more than so many times as fast
	// as it is asked to, in the mean of the window. Default: `1.5`.
	Over float64 `json:"over,omitempty"`

	// Of how much time that is the mean. Default: `5m`.
	Window caddy.Duration `json:"window,omitempty"`

	// What is counted: `documents` leaves out styles, scripts, images and fonts, by the
	// extension of the path; `all` counts these, too. Default: `documents`.
	Count string `json:"count,omitempty"`
}

// The words of Rate.Mode, Rate.Search and Rate.Count.
const (
	modeObserve    = "observe"
	modeEnforce    = "enforce"
	countDocuments = "documents"
	countAll       = "all"
)

var (
	modeWords  = []string{modeObserve, modeEnforce} // of Search, too
	countWords = []string{countDocuments, countAll}
)

// Bounds of what can be configured.
const (
	minDelay, maxDelay   = time.Second, time.Hour
	maxBurst             = 1000
	minOver, maxOver     = 1, 100
	minWindow, maxWindow = time.Minute, time.Hour
)

// Validate tells what cannot be. Whether the tokens of limits are known it tells where
// registry is not nil.
func (r *Rate) Validate(registry *uaident.Registry) error {
	switch {
	case r == nil:
	case r.IgnoreDelay && len(r.Limits) == 0:
		return errors.New("rate: with crawl_delay off nothing is counted; add a limit")
	case r.Search == modeEnforce && r.Mode != modeEnforce:
		return errors.New("rate: search enforce means nothing unless the mode is enforce; write rate enforce")
	}
	return r.ValidateValues(registry)
}

// ValidateValues does so without what depends on several values, so that a Caddyfile
// can be checked line by line.
func (r *Rate) ValidateValues(registry *uaident.Registry) error {
	if r == nil {
		return nil
	}
	for i := range r.Limits {
		if r.Limits[i].Client == "" {
			return fmt.Errorf("rate: limit %d is for nobody; give it a client, a product token or class such as GPTBot, and requests and per, or concurrent", i+1)
		}
		if err := r.Limits[i].validate(); err != nil {
			return err
		}
	}
	if _, err := r.ParseLimits(registry); err != nil {
		return err
	}
	return cmp.Or(
		option.OneOf("the mode of rate", r.Mode, modeWords),
		option.OneOf("search of rate", r.Search, modeWords),
		option.OneOf("count of rate", r.Count, countWords),
		within("max_delay", time.Duration(r.MaxDelay), minDelay, maxDelay),
		within("burst", r.Burst, 1, maxBurst),
		within("over", r.Over, minOver, maxOver),
		within("the window of over", time.Duration(r.Window), minWindow, maxWindow),
	)
}

// ValidateFor tells what cannot be where answers do not pass through the guard, as with
// decide: nobody knows there how long one took and when it was over.
// Nor can a limit be for whom is exempt, of whom nothing is counted; whom a class has is
// told only with a registry.
func (r *Rate) ValidateFor(answers bool, exempt []string, registry *uaident.Registry) error {
	if r == nil {
		return nil
	}
	for _, l := range r.Limits {
		if err := l.validateBeside(exempt, registry); err != nil {
			return err
		}
	}
	if answers {
		return nil
	}
	const why = "does not go with decide, by which the guard sees no answer; remove it"
	for _, l := range r.Limits {
		if l.Concurrent != 0 {
			return fmt.Errorf("rate: concurrent of the limit of %s %s", l.Client, why)
		}
	}
	return nil
}

// within checks a value, which may be left out.
func within[T cmp.Ordered](name string, value, least, most T) error {
	var none T
	if value == none || value >= least && value <= most {
		return nil
	}
	return fmt.Errorf("rate: %s %s cannot be; use one from %s to %s", name, short(value), short(least), short(most))
}

// short writes a value as it would be configured.
func short[T any](value T) string {
	if d, ok := any(value).(time.Duration); ok {
		return option.Short(caddy.Duration(d))
	}
	return fmt.Sprint(value)
}

// Settings returns what is decided, nil for nothing. The limits are held against the
// registry, unless that is nil.
func (r *Rate) Settings(registry *uaident.Registry) (*rate.Settings, error) {
	if r == nil {
		return nil, nil
	}
	limits, err := r.ParseLimits(registry)
	return &rate.Settings{
		MaxDelay: cmp.Or(time.Duration(r.MaxDelay), rate.Default.MaxDelay),
		Burst:    cmp.Or(r.Burst, rate.Default.Burst),
		Over:     cmp.Or(r.Over, rate.Default.Over),
		Window:   cmp.Or(time.Duration(r.Window), rate.Default.Window),
		All:      r.Count == countAll,
		Limits:   limits,

		IgnoreDelay: r.IgnoreDelay,
		Enforce:     r.Enforces(),
		Search:      r.Search == modeEnforce,
	}, err
}

// Enforces reports whether requests that are one too many are answered.
func (r *Rate) Enforces() bool { return r != nil && r.Mode == modeEnforce }

package caddymodule

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"math"
	"strconv"
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
	Limits []RateLimit `json:"limits,omitempty"`

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
	rateObserve    = "observe"
	rateEnforce    = "enforce"
	countDocuments = "documents"
	countAll       = "all"
)

var (
	rateModes  = []string{rateObserve, rateEnforce} // of Search, too
	rateCounts = []string{countDocuments, countAll}
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
	case r.Search == rateEnforce && r.Mode != rateEnforce:
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
		option.OneOf("the mode of rate", r.Mode, rateModes),
		option.OneOf("search of rate", r.Search, rateModes),
		option.OneOf("count of rate", r.Count, rateCounts),
		inRange("max_delay", time.Duration(r.MaxDelay), minDelay, maxDelay),
		inRange("burst", r.Burst, 1, maxBurst),
		inRange("over", r.Over, minOver, maxOver),
		inRange("the window of over", time.Duration(r.Window), minWindow, maxWindow),
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

// inRange checks a value, which may be left out.
func inRange[T cmp.Ordered](name string, value, least, most T) error {
	var none T
	if value == none || value >= least && value <= most {
		return nil
	}
	return fmt.Errorf("rate: %s %s cannot be; use one from %s to %s", name, shortValue(value), shortValue(least), shortValue(most))
}

// shortValue writes a value as it would be configured.
func shortValue[T any](value T) string {
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
		Search:      r.Search == rateEnforce,
	}, err
}

// Enforces reports whether requests that are one too many are answered.
func (r *Rate) Enforces() bool { return r != nil && r.Mode == rateEnforce }

// rateOption is the option rate of robots_guard, which sets into. Limits are held against the
// registry, unless that is nil.
func rateOption(into **Rate, registry *uaident.Registry) option.Option {
	read := new(Rate)
	return option.Option{
		Name: "rate", Usage: "observe or enforce, or nothing for observe", Inner: read.Options(),
		Set: func(args []string) error {
			switch {
			case len(args) > 1:
				return option.ErrCount
			case len(args) == 1 && args[0] != rateObserve && args[0] != rateEnforce:
				return option.ErrValue
			case len(args) == 1:
				read.Mode = args[0]
			}
			*into = read
			return nil
		},
		Block: func(d *caddyfile.Dispenser) error {
			return option.ReadBlock(d, read.Options(), func() error { return read.ValidateValues(registry) }, func() error { return read.Validate(registry) })
		},
	}
}

// Options are what may stand in the block of rate.
func (r *Rate) Options() []option.Option {
	return []option.Option{
		{Name: "crawl_delay", Usage: "on or off", Set: option.One(&r.IgnoreDelay, option.OffOn)},
		{Name: "limit", Usage: "a product token or class and a number of requests in some time such as 30/1m, or concurrent and a number, or both, perhaps with burst and a number", Set: r.addLimit, Again: true},
		{Name: "max_delay", Usage: "a duration such as 30s", Set: option.One(&r.MaxDelay, option.Duration)},
		{Name: "burst", Usage: "a number such as 10", Set: option.One(&r.Burst, option.Number)},
		{Name: "over", Usage: "a factor such as 1.5, perhaps with for and a duration such as 5m behind it", Set: r.setOver},
		{Name: "search", Usage: "observe or enforce", Set: option.One(&r.Search, option.WordOf(rateModes...))},
		{Name: "count", Usage: "documents or all", Set: option.One(&r.Count, option.WordOf(rateCounts...))},
	}
}

// setOver reads "1.5 for 5m".
func (r *Rate) setOver(args []string) error {
	if len(args) != 1 && len(args) != 3 {
		return option.ErrCount
	}
	factor, err := strconv.ParseFloat(args[0], 64)
	if err != nil || !(factor > 0) || math.IsInf(factor, 0) {
		return option.ErrValue
	}
	r.Over = factor
	if len(args) == 1 {
		return nil
	}
	window, ok := option.Duration(args[2])
	if args[1] != "for" || !ok {
		return option.ErrValue
	}
	r.Window = window
	return nil
}

package caddymodule

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Rate limits the request rate of crawlers. Each crawler has the `Crawl-delay` of its group
// in robots.txt and the configured `limits`.
type Rate struct {
	// The action for requests over the rate. `observe` counts the requests. `enforce` also answers
	// them with 429 (Too Many Requests). Default: `observe`.
	Mode string `json:"mode,omitempty"`

	// The action for requests of search engines over the rate. `observe` never answers with 429.
	// `enforce` answers at most one in twenty requests of a search engine with 429, and none after
	// a day without a pause. Default: `observe`.
	Search string `json:"search,omitempty"`

	// Whether to ignore `Crawl-delay`, so that only `limits` apply. Default: `false`.
	IgnoreDelay bool `json:"ignore_crawl_delay,omitempty"`

	// Limits for some crawlers, in addition to `Crawl-delay`. The stricter of both applies.
	Limits []RateLimit `json:"limits,omitempty"`

	// The longest `Crawl-delay` to enforce, from `1s` to `1h`. A longer delay in robots.txt is
	// replaced by this. Default: `30s`.
	MaxDelay caddy.Duration `json:"max_delay,omitempty"`

	// The number of requests that a crawler may send in a burst, from 1 to 1000. Default: `10`.
	Burst int `json:"burst,omitempty"`

	// The factor by which a crawler must exceed its rate, averaged over the window, to be too
	// fast. From 1 to 100. Default: `1.5`.
	Tolerance float64 `json:"over,omitempty"`

	// The window over which the rate is averaged, from `1m` to `1h`. Default: `5m`.
	Window caddy.Duration `json:"window,omitempty"`

	// The requests that count. `documents` ignores styles, scripts, images and fonts, by the
	// extension of the path. `all` counts all requests. Default: `documents`.
	CountBy string `json:"count,omitempty"`
}

// These are the values of Rate.Mode, Rate.Search and Rate.CountBy.
const (
	rateObserve    = "observe"
	rateEnforce    = "enforce"
	countDocuments = "documents"
	countAll       = "all"
)

var (
	rateModes  = []string{rateObserve, rateEnforce} // rateModes are the values of Rate.Mode and Rate.Search.
	rateCounts = []string{countDocuments, countAll}
)

// These are bounds of the fields of Rate.
const (
	minDelay, maxDelay   = time.Second, time.Hour
	maxBurst             = 1000
	minOver, maxOver     = 1, 100
	minWindow, maxWindow = time.Minute, time.Hour
)

// Validate returns an error for invalid or contradictory options. If registry is not nil, a token
// that the registry lacks is an error too. A nil *Rate is valid.
func (r *Rate) Validate(registry *uaident.Registry) error {
	switch {
	case r == nil:
	case r.IgnoreDelay && len(r.Limits) == 0:
		return errors.New("rate: crawl_delay off without a limit has no effect; add a limit")
	case r.Search == rateEnforce && r.Mode != rateEnforce:
		return errors.New("rate: search enforce has no effect in mode observe; write rate enforce")
	}
	return r.ValidateValues(registry)
}

// ValidateValues returns an error for the first invalid option. ValidateValues ignores
// contradictions between options, so that the Caddyfile parser can call it after each line.
func (r *Rate) ValidateValues(registry *uaident.Registry) error {
	if r == nil {
		return nil
	}
	for i := range r.Limits {
		if r.Limits[i].Client == "" {
			return fmt.Errorf("rate: limit %d has no client; give a product token or class such as GPTBot, with requests and per, or concurrent", i+1)
		}
		if err := r.Limits[i].validate(); err != nil {
			return err
		}
	}
	if _, err := r.ParseLimits(registry); err != nil {
		return err
	}
	return cmp.Or(
		option.CheckWord("the mode of rate", r.Mode, rateModes),
		option.CheckWord("search of rate", r.Search, rateModes),
		option.CheckWord("count of rate", r.CountBy, rateCounts),
		checkRange("max_delay", time.Duration(r.MaxDelay), minDelay, maxDelay),
		checkRange("burst", r.Burst, 1, maxBurst),
		checkRange("over", r.Tolerance, minOver, maxOver),
		checkRange("the window of over", time.Duration(r.Window), minWindow, maxWindow),
	)
}

// ValidateForHandler returns an error for a limit that has no effect with the other options of the
// handler: a limit for an exempt client, whose requests are not counted, or a limit on concurrent
// requests if seesResponses is false, as with decide. If registry is nil, exempt classes are not
// checked. A nil *Rate is valid.
func (r *Rate) ValidateForHandler(seesResponses bool, exempt []string, registry *uaident.Registry) error {
	if r == nil {
		return nil
	}
	for _, l := range r.Limits {
		if err := l.checkNotExempt(exempt, registry); err != nil {
			return err
		}
	}
	if seesResponses {
		return nil
	}
	const why = "has no effect with decide, because the guard does not see the responses; remove concurrent"
	for _, l := range r.Limits {
		if l.Concurrent != 0 {
			return fmt.Errorf("rate: concurrent of the limit of %s %s", l.Client, why)
		}
	}
	return nil
}

// checkRange returns an error for a value that is neither zero nor between the bounds.
func checkRange[T cmp.Ordered](name string, value, lower, upper T) error {
	var none T
	if value == none || value >= lower && value <= upper {
		return nil
	}
	return fmt.Errorf("rate: %s: %s is out of range; use a value from %s to %s", name, formatValue(value), formatValue(lower), formatValue(upper))
}

// formatValue formats a value as in a Caddyfile.
func formatValue[T any](value T) string {
	if d, ok := any(value).(time.Duration); ok {
		return option.FormatDuration(caddy.Duration(d))
	}
	return fmt.Sprint(value)
}

// Settings returns the settings for package rate, with defaults for empty fields. It is nil for a
// nil *Rate. If registry is not nil, a token that the registry lacks is an error.
func (r *Rate) Settings(registry *uaident.Registry) (*rate.Settings, error) {
	if r == nil {
		return nil, nil
	}
	limits, err := r.ParseLimits(registry)
	return &rate.Settings{
		MaxCrawlDelay:      cmp.Or(time.Duration(r.MaxDelay), rate.DefaultSettings.MaxCrawlDelay),
		Burst:              cmp.Or(r.Burst, rate.DefaultSettings.Burst),
		Tolerance:          cmp.Or(r.Tolerance, rate.DefaultSettings.Tolerance),
		Window:             cmp.Or(time.Duration(r.Window), rate.DefaultSettings.Window),
		CountPageResources: r.CountBy == countAll,
		Limits:             limits,

		IgnoreCrawlDelay: r.IgnoreDelay,
		Enforce:          r.Enforces(),
		SlowSearch:       r.Search == rateEnforce,
	}, err
}

// Enforces reports whether requests over the rate are answered with 429. It is false for a nil
// *Rate.
func (r *Rate) Enforces() bool { return r != nil && r.Mode == rateEnforce }

// rateOption returns the parser of the option `rate` of robots_guard, which stores the result in
// *into. If registry is not nil, a limit for a token that the registry lacks is an error.
func rateOption(into **Rate, registry *uaident.Registry) option.Option {
	read := new(Rate)
	return option.Option{
		Name: "rate", Usage: "observe or enforce, or nothing for observe", Nested: read.Options(),
		ParseArguments: func(args []string) error {
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
		ParseBlock: func(d *caddyfile.Dispenser) error {
			return option.ReadBlock(d, read.Options(), func() error { return read.ValidateValues(registry) }, func() error { return read.Validate(registry) })
		},
	}
}

// Options returns the options in the block of rate.
func (r *Rate) Options() []option.Option {
	return []option.Option{
		{Name: "crawl_delay", Usage: "on or off", ParseArguments: option.ParseOneArgument(&r.IgnoreDelay, option.ParseInvertedOnOff)},
		{Name: "limit", Usage: "a product token or class, and a rate such as 30/1m, concurrent and a number, or both, optionally with burst and a number", ParseArguments: r.addLimit, Repeatable: true},
		{Name: "max_delay", Usage: "a duration, for example 30s", ParseArguments: option.ParseOneArgument(&r.MaxDelay, option.ParseDuration)},
		{Name: "burst", Usage: "a number, for example 10", ParseArguments: option.ParseOneArgument(&r.Burst, option.ParseNonZeroNumber)},
		{Name: "over", Usage: "a factor such as 1.5, optionally followed by for and a duration, for example 5m", ParseArguments: r.setTolerance},
		{Name: "search", Usage: "observe or enforce", ParseArguments: option.ParseOneArgument(&r.Search, option.AcceptOneOf(rateModes...))},
		{Name: "count", Usage: "documents or all", ParseArguments: option.ParseOneArgument(&r.CountBy, option.AcceptOneOf(rateCounts...))},
	}
}

// setTolerance parses the arguments of over, such as "1.5 for 5m".
func (r *Rate) setTolerance(args []string) error {
	if len(args) != 1 && len(args) != 3 {
		return option.ErrCount
	}
	factor, err := strconv.ParseFloat(args[0], 64)
	if err != nil || !(factor > 0) || math.IsInf(factor, 0) {
		return option.ErrValue
	}
	r.Tolerance = factor
	if len(args) == 1 {
		return nil
	}
	window, ok := option.ParseDuration(args[2])
	if args[1] != "for" || !ok {
		return option.ErrValue
	}
	r.Window = window
	return nil
}

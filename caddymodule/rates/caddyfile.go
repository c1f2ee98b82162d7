package rates

import (
	"math"
	"strconv"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Option is the line of the option rate, which sets into. Limits are held against the
// registry, unless that is nil.
func Option(into **Rate, registry *uaident.Registry) option.Option {
	read := new(Rate)
	return option.Option{
		Name: "rate", Usage: "observe or enforce, or nothing for observe", Inner: read.Options(),
		Set: func(args []string) error {
			switch {
			case len(args) > 1:
				return option.ErrCount
			case len(args) == 1 && args[0] != modeObserve && args[0] != modeEnforce:
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
		{Name: "search", Usage: "observe or enforce", Set: option.One(&r.Search, option.WordOf(modeWords...))},
		{Name: "count", Usage: "documents or all", Set: option.One(&r.Count, option.WordOf(countWords...))},
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

package rates

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Limit says how fast some crawlers may ask, whatever their robots.txt asks for. Each
// of them may so.
type Limit struct {
	// The product token or class. A limit of a token wins over one of its class.
	Client string `json:"client"`

	// How many requests there may be in `per`.
	Requests int `json:"requests"`

	// The time for that many requests.
	Per caddy.Duration `json:"per"`

	// How many may come at once. Default: as `burst` of the rate says, and no more than
	// `requests`.
	Burst int `json:"burst,omitempty"`
}

// Bounds of a limit.
const (
	maxRequests    = 1_000_000
	minPer, maxPer = time.Second, 24 * time.Hour
)

// validate tells what cannot be.
func (l *Limit) validate() error {
	name := "limit of " + l.Client
	switch {
	case l.Requests == 0:
		return fmt.Errorf("rate: %s allows no request; leave crawlers out by the robots.txt", name)
	case l.Per == 0:
		return fmt.Errorf("rate: %s has no time; write one such as 30/1m", name)
	}
	return cmp.Or(
		within(name, l.Requests, 1, maxRequests),
		within("the time of "+name, time.Duration(l.Per), minPer, maxPer),
		within("the burst of "+name, l.Burst, 1, maxBurst),
	)
}

// ParseLimits returns the limits, those of tokens first. Whether a token is known is
// told only with a registry.
func (r *Rate) ParseLimits(registry *uaident.Registry) (limits []rate.Limit, err error) {
	seen, tokens := make(map[string]bool), 0
	for _, l := range r.Limits {
		parsed := rate.Limit{Client: l.Client, Requests: l.Requests, Per: time.Duration(l.Per)}
		parsed.Rule = rate.Rule{
			Interval: parsed.Per / time.Duration(max(l.Requests, 1)),
			Burst:    cmp.Or(l.Burst, min(cmp.Or(r.Burst, rate.Default.Burst), l.Requests)),
		}
		if parsed.Clients, err = judge.ParseSelector(registry, []string{l.Client}, false); err != nil {
			return nil, fmt.Errorf("rate: limit: %w", err)
		}
		if name := judge.FoldName(strings.TrimPrefix(l.Client, judge.MeantToken)); seen[name] {
			return nil, fmt.Errorf("rate: %s has two limits; keep one", l.Client)
		} else {
			seen[name] = true
		}
		if _, isClass := uaident.ParseClass(l.Client); isClass {
			limits = append(limits, parsed)
		} else {
			limits = slices.Insert(limits, tokens, parsed)
			tokens++
		}
	}
	return limits, nil
}

// addLimit reads "GPTBot 30/1m burst 5".
func (r *Rate) addLimit(args []string) error {
	if len(args) != 2 && len(args) != 4 {
		return option.ErrCount
	}
	l := Limit{Client: args[0]}
	count, per, ok := strings.Cut(args[1], "/")
	requests, err := strconv.Atoi(count)
	if !ok || err != nil || requests < 0 {
		return option.ErrValue
	}
	l.Requests = requests
	if l.Per, ok = option.Duration(per); !ok {
		return option.ErrValue
	}
	if len(args) == 4 {
		if l.Burst, ok = option.Number(args[3]); !ok || args[2] != "burst" {
			return option.ErrValue
		}
	}
	r.Limits = append(r.Limits, l)
	return nil
}

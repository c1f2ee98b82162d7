package caddymodule

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

// RateLimit limits the request rate or the concurrent requests of crawlers, independently of their
// `Crawl-delay`. With a class, the limit applies to each crawler of the class separately.
type RateLimit struct {
	// The product token or class. The limit of a token overrides the limit of its class.
	Client string `json:"client"`

	// The number of requests in `per`, from 1 to 1000000. Required unless `concurrent` is set.
	Requests int `json:"requests,omitempty"`

	// The time for these requests, from `1s` to `24h`.
	Per caddy.Duration `json:"per,omitempty"`

	// The number of requests in a burst, from 1 to 1000. Default: the `burst` of the rate, and
	// at most `requests`.
	Burst int `json:"burst,omitempty"`

	// The number of concurrent requests, from 1 to 10000. Default: no limit.
	Concurrent int `json:"concurrent,omitempty"`
}

// These are bounds of the fields of RateLimit.
const (
	maxRequests    = 1_000_000
	minPer, maxPer = time.Second, 24 * time.Hour
	maxConcurrent  = 10_000
)

// validate returns an error for an invalid value or combination of values.
func (l *RateLimit) validate() error {
	name := "the limit of " + l.Client
	switch {
	case l.Concurrent != 0 && l.Requests == 0 && l.Per == 0 && l.Burst == 0:
		return checkRange("the concurrent requests of "+name, l.Concurrent, 1, maxConcurrent)
	case l.Requests == 0 && l.Per == 0 && l.Burst != 0:
		return fmt.Errorf("rate: %s has a burst but no rate; write a rate such as 30/1m before burst", name)
	case l.Requests == 0:
		return fmt.Errorf("rate: %s allows no requests; to block a crawler, disallow it in the robots.txt", name)
	case l.Per == 0:
		return fmt.Errorf("rate: %s has requests but no time; write a rate, for example 30/1m", name)
	}
	return cmp.Or(
		checkRange(name, l.Requests, 1, maxRequests),
		checkRange("the time of "+name, time.Duration(l.Per), minPer, maxPer),
		checkRange("the burst of "+name, l.Burst, 1, maxBurst),
		checkRange("the concurrent requests of "+name, l.Concurrent, 1, maxConcurrent),
	)
}

// checkNotExempt returns an error if the client of the limit is exempt, by its name or by its
// class. If registry is nil, classes are not checked.
func (l *RateLimit) checkNotExempt(exempt []string, registry *uaident.Registry) error {
	for _, name := range exempt {
		if judge.FoldWord(name) == judge.FoldWord(l.Client) {
			return fmt.Errorf("rate: the limit of %s has no effect, because the same client is in exempt; remove one", l.Client)
		}
	}
	if registry == nil {
		return nil
	}
	listed, err := judge.ParseSelector(registry, exempt, false)
	c := judge.LookupCrawler(registry, l.Client)
	if err != nil || c == nil || !listed.Matches(uaident.Identity{Token: c.Token, Crawler: c, Class: c.Class}) {
		return nil // Another check reports an unknown name.
	}
	return fmt.Errorf("rate: the limit of %s has no effect, because its class %s is in exempt; remove one, or list single crawlers in exempt", l.Client, c.Class)
}

// ParseLimits returns the limits for package rate, tokens before classes. If registry is not nil, a
// token that the registry lacks is an error.
func (r *Rate) ParseLimits(registry *uaident.Registry) (limits []rate.Limit, err error) {
	seen, tokens := make(map[string]bool), 0
	for _, l := range r.Limits {
		parsed := rate.Limit{Client: l.Client, Requests: l.Requests, Per: time.Duration(l.Per), Concurrent: l.Concurrent}
		if l.Requests > 0 {
			parsed.Rule = rate.Rule{
				Interval: parsed.Per / time.Duration(l.Requests),
				Burst:    cmp.Or(l.Burst, min(cmp.Or(r.Burst, rate.DefaultSettings.Burst), l.Requests)),
			}
		}
		if parsed.Clients, err = judge.ParseSelector(registry, []string{l.Client}, false); err != nil {
			return nil, fmt.Errorf("rate: limit: %w", err)
		}
		if name := judge.FoldWord(l.Client); seen[name] {
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

// addLimit parses the arguments of limit, such as "GPTBot 30/1m burst 5 concurrent 4". Each part
// after the client is optional.
func (r *Rate) addLimit(args []string) error {
	if len(args) < 2 {
		return option.ErrCount
	}
	l, rest := RateLimit{Client: args[0]}, args[1:]
	if count, per, ok := strings.Cut(rest[0], "/"); ok {
		var err error
		if l.Requests, err = strconv.Atoi(count); err != nil || l.Requests < 0 {
			return option.ErrValue
		}
		if l.Per, ok = option.ParseDuration(per); !ok {
			return option.ErrValue
		}
		rest = rest[1:]
	}
	for ; len(rest) > 0; rest = rest[2:] {
		into := map[string]*int{"burst": &l.Burst, "concurrent": &l.Concurrent}[rest[0]]
		switch {
		case into == nil:
			return option.ErrValue
		case len(rest) == 1:
			return option.ErrCount
		}
		n, ok := option.ParseNonZeroNumber(rest[1])
		if !ok || *into != 0 {
			return option.ErrValue
		}
		*into = n
	}
	r.Limits = append(r.Limits, l)
	return nil
}

package caddymodule

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	"cel.dev/cel-go/cel"
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/handlerorder"
	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
)

func init() {
	caddy.RegisterModule(MatchRate{})
}

// MatchRate matches requests of crawlers by their rate: `within` the rate, `over` the rate, or
// `slowed`. `slowed` means that robots_guard answers the request with 429. The handler robots_guard
// with `rate` must precede this matcher. Requests without a rate do not match.
type MatchRate struct {
	// The states to match: `within`, `over`, `slowed`.
	RateStates []string `json:"states,omitempty"`

	// The place in the Caddyfile, such as `Caddyfile:12`, for error messages. The Caddyfile adapter
	// sets the place.
	CaddyfileLine string `json:"at,omitempty"`
}

// CaddyModule returns the Caddy module information.
func (MatchRate) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.matchers." + handlerorder.Rate, New: func() caddy.Module { return new(MatchRate) }}
}

// UnmarshalCaddyfile sets up the matcher from Caddyfile tokens. Syntax:
//
//	robots_rate <within|over|slowed...>
func (m *MatchRate) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	for d.Next() {
		m.CaddyfileLine = option.CaddyfileLine(d)
		m.RateStates = append(m.RateStates, d.RemainingArgs()...)
		if d.NextBlock(0) {
			return d.Err("robots_rate takes no block")
		}
	}
	if err := m.Validate(); err != nil {
		return d.WrapErr(err)
	}
	return nil
}

// Validate returns an error for an unknown state and for a matcher without states.
func (m *MatchRate) Validate() error {
	words := rateStateNames()
	for _, state := range m.RateStates {
		if !slices.Contains(words, state) {
			return fmt.Errorf("robots_rate: %q is not a state of a rate; use %s", state, option.JoinWords(words, "or"))
		}
	}
	if len(m.RateStates) == 0 {
		return fmt.Errorf("robots_rate needs a state: %s", option.JoinWords(words, "or"))
	}
	return nil
}

// Provision checks that a robots_guard precedes the matcher.
func (m *MatchRate) Provision(ctx caddy.Context) error { return checkOrder(ctx) }

// MatchWithError reports whether the request matches. The error is always nil.
func (m MatchRate) MatchWithError(r *http.Request) (bool, error) {
	j := judgementFromRequest(r)
	return j != nil && j.Rate.State != rate.NoRate && slices.Contains(m.RateStates, j.Rate.State.String()), nil
}

// CELLibrary lets expressions use the matcher.
//
// Example:
//
//	expression robots_rate('over') && robots_crawler('seo')
func (MatchRate) CELLibrary(ctx caddy.Context) (cel.Library, error) {
	return newCELLibrary("robots_rate", func(states []string) (caddyhttp.RequestMatcherWithError, error) {
		m := MatchRate{RateStates: states}
		return m, cmp.Or(m.Validate(), m.Provision(ctx))
	})
}

func rateStateNames() (words []string) {
	for _, state := range rate.AllStates() {
		words = append(words, state.String())
	}
	return words
}

// Interface guards
var (
	_ caddy.Provisioner                 = (*MatchRate)(nil)
	_ caddy.Validator                   = (*MatchRate)(nil)
	_ caddyfile.Unmarshaler             = (*MatchRate)(nil)
	_ caddyhttp.RequestMatcherWithError = (*MatchRate)(nil)
	_ caddyhttp.CELLibraryProducer      = (*MatchRate)(nil)
)

package caddymodule

import (
	"errors"
	"fmt"
	"net/http"

	"cel.dev/cel-go/cel"
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/handlerorder"
	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

func init() {
	caddy.RegisterModule(MatchPreference{})
}

// MatchPreference matches requests for pages that robots.txt allows and that have all of the given
// Content-Usage preferences. A robots_guard must precede the matcher. Fetching a matched page is
// not a violation.
type MatchPreference struct {
	// Preferences such as `train-ai=n`. The labels are `train-ai`, `ai-use` and `search`.
	Preferences []string `json:"preferences,omitempty"`

	// The place in the Caddyfile, such as `Caddyfile:12`, for error messages. The Caddyfile adapter
	// sets the place.
	CaddyfileLine string `json:"at,omitempty"`

	parsedPreferences policy.Preferences
}

// CaddyModule returns the Caddy module information.
func (MatchPreference) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.matchers." + handlerorder.Preference, New: func() caddy.Module { return new(MatchPreference) }}
}

// UnmarshalCaddyfile sets up the matcher from Caddyfile tokens. Syntax:
//
//	robots_preference <label>=y|n...
func (m *MatchPreference) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	for d.Next() {
		m.CaddyfileLine = option.CaddyfileLine(d)
		m.Preferences = append(m.Preferences, d.RemainingArgs()...)
		if d.NextBlock(0) {
			return d.Err("robots_preference takes no block")
		}
	}
	if _, err := m.parse(); err != nil {
		return d.WrapErr(err)
	}
	return nil
}

// parse returns the preferences to match.
func (m *MatchPreference) parse() (preferences policy.Preferences, err error) {
	if len(m.Preferences) == 0 {
		return preferences, errors.New("robots_preference needs a preference, for example train-ai=n")
	}
	for _, preference := range m.Preferences {
		stated, err := policy.ParsePreferences(preference)
		if stated.String() != preference || err != nil {
			return preferences, fmt.Errorf("robots_preference: %q is not a preference; write train-ai, ai-use or search, followed by =y or =n", preference)
		}
		for use, value := range stated {
			if previous := preferences[use]; value != policy.PreferenceUnknown && previous != policy.PreferenceUnknown && previous != value {
				return preferences, fmt.Errorf("robots_preference: y and n for %s can never match together; keep one", policy.Use(use))
			}
		}
		preferences = preferences.Combine(stated)
	}
	return preferences, nil
}

// Provision sets up the matcher.
func (m *MatchPreference) Provision(ctx caddy.Context) (err error) {
	if m.parsedPreferences, err = m.parse(); err != nil {
		return err
	}
	return checkOrder(ctx)
}

// MatchWithError reports whether the request matches. The error is always nil.
func (m MatchPreference) MatchWithError(r *http.Request) (bool, error) {
	j := judgementFromRequest(r)
	if j == nil {
		return false, nil
	}
	for use, value := range m.parsedPreferences {
		if value != policy.PreferenceUnknown && j.Preferences[use] != value {
			return false, nil
		}
	}
	return true, nil
}

// CELLibrary lets expressions use the matcher.
//
// Example:
//
//	expression robots_preference('train-ai=n')
func (MatchPreference) CELLibrary(ctx caddy.Context) (cel.Library, error) {
	return newCELLibrary("robots_preference", func(preferences []string) (caddyhttp.RequestMatcherWithError, error) {
		m := MatchPreference{Preferences: preferences}
		err := m.Provision(ctx)
		return m, err
	})
}

// Interface guards
var (
	_ caddy.Provisioner                 = (*MatchPreference)(nil)
	_ caddyfile.Unmarshaler             = (*MatchPreference)(nil)
	_ caddyhttp.RequestMatcherWithError = (*MatchPreference)(nil)
	_ caddyhttp.CELLibraryProducer      = (*MatchPreference)(nil)
)

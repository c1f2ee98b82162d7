package caddymodule

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"cel.dev/cel-go/cel"
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/guard"
	"github.com/robotsguard/caddy-robots-guard/internal/handlerorder"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func init() {
	caddy.RegisterModule(MatchCrawler{})
	caddy.RegisterModule(MatchDisallowed{})
}

// MatchCrawler matches requests of crawlers by their User-Agent.
//
// Each value is a product token such as `Googlebot`, a class such as `ai_training`, or an identity
// (`verified`, `claimed`, `unknown` or `spoofed`). Write `token:NewBot` for a token that the
// registry lacks. A request matches if its crawler has one of the tokens or classes and one of the
// identities. Without tokens and classes, every crawler matches. Without identities, every identity
// matches. Libraries and headless browsers match only if the matcher lists them.
type MatchCrawler struct {
	// The product tokens, classes and identities to match.
	Clients []string `json:"clients,omitempty"`

	// The place in the Caddyfile, such as `Caddyfile:12`, for error messages. The Caddyfile adapter
	// sets the place if the built-in registry lacks one of the clients.
	CaddyfileLine string `json:"at,omitempty"`

	selector judge.Selector
	app      *App
	overlay  *uaident.Overlay // overlay has the tokens in Clients that the registry lacks.
}

// CaddyModule returns the Caddy module information.
func (MatchCrawler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.matchers.robots_crawler",
		New: func() caddy.Module { return new(MatchCrawler) },
	}
}

// UnmarshalCaddyfile sets up the matcher from Caddyfile tokens. Syntax:
//
//	robots_crawler [<token|class|identity>...]
func (m *MatchCrawler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	for d.Next() {
		words := d.RemainingArgs()
		if _, err := judge.ParseSelector(nil, words, true); err != nil {
			return d.Errf("robots_crawler: %v", err)
		}
		// A crawler option may add the client.
		if _, err := judge.ParseSelector(uaident.Default(), words, true); err != nil {
			m.CaddyfileLine = option.CaddyfileLine(d)
		}
		m.Clients = append(m.Clients, words...)
		if d.NextBlock(0) {
			return d.Err("robots_crawler takes no block")
		}
	}
	return nil
}

// Provision sets up the matcher.
func (m *MatchCrawler) Provision(ctx caddy.Context) (err error) {
	if m.app, err = UseApp(ctx); err != nil {
		return err
	}
	m.selector, err = judge.ParseSelector(m.app.registry, m.Clients, true)
	m.app.needsIdentity = m.app.needsIdentity || m.selector.Identities != 0
	m.overlay = m.app.registry.NewOverlay(m.selector.UnregisteredTokens).WithApplications()
	return option.AddCaddyfileLine(m.CaddyfileLine, err)
}

// MatchWithError reports whether the request matches. The error is always nil.
func (m MatchCrawler) MatchWithError(r *http.Request) (bool, error) {
	client := judgementFromRequest(r)
	if client == nil {
		client = &guard.Judgement{Request: judge.Request{Client: m.app.currentRegistry.Load().IdentifyWithOverlay(site.RequestUserAgent(r), m.overlay)}}
		if m.selector.Identities != 0 {
			client.Verification, _ = m.app.identity.VerifyClient(r, client.Client)
		}
	}
	if site.IsGuardRequest(r.Context()) || !m.selector.Identities.Has(client.Verification) {
		return false, nil
	}
	if m.selector.IsEmpty() {
		return client.Client.Class.IsCrawler(), nil
	}
	return m.selector.Matches(client.Client), nil
}

// CELLibrary lets expressions use the matcher.
//
// Example:
//
//	expression robots_crawler('Googlebot', 'ai_training')
func (MatchCrawler) CELLibrary(ctx caddy.Context) (cel.Library, error) {
	return newCELLibrary("robots_crawler", func(clients []string) (caddyhttp.RequestMatcherWithError, error) {
		m := MatchCrawler{Clients: clients}
		err := m.Provision(ctx)
		return m, err
	})
}

// MatchDisallowed matches requests that the robots.txt of the site disallows. A configuration
// without a robots_guard before the matcher does not load.
//
// Without a token, the matcher matches requests of crawlers with the verdict disallowed. With a
// token, the matcher matches requests of all clients, including browsers, for a URL that robots.txt
// disallows to the named crawler. The token `*` means crawlers that no group names. The matcher
// blocks and logs nothing. The matcher matches nothing while robots.txt is unknown, and never
// matches /robots.txt. With a token, the matcher also never matches a path below /.well-known/.
type MatchDisallowed struct {
	// The product token of a crawler, or `*`. Write `token:NewBot` for a token that the registry
	// lacks. Default: the crawler that sends the request.
	Token string `json:"token,omitempty"`

	// The place in the Caddyfile, such as `Caddyfile:12`, for error messages. The Caddyfile adapter
	// sets the place.
	CaddyfileLine string `json:"at,omitempty"`

	token string
}

// CaddyModule returns the Caddy module information.
func (MatchDisallowed) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.matchers." + handlerorder.Disallowed,
		New: func() caddy.Module { return new(MatchDisallowed) },
	}
}

// UnmarshalCaddyfile sets up the matcher from Caddyfile tokens. Syntax:
//
//	robots_disallowed [*|<token>]
func (m *MatchDisallowed) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	for d.Next() {
		m.CaddyfileLine = option.CaddyfileLine(d)
		if d.NextArg() {
			m.Token = d.Val()
		}
		if d.NextArg() {
			return d.ArgErr()
		}
		if d.NextBlock(0) {
			return d.Err("robots_disallowed takes no block")
		}
	}
	if err := m.parse(nil); err != nil { // A crawler option may add the token.
		return d.WrapErr(err)
	}
	return nil
}

// parse sets the product token. If registry is nil, any token is valid.
func (m *MatchDisallowed) parse(registry *uaident.Registry) (err error) {
	if m.token = m.Token; m.Token == "" || m.Token == guard.Everybody {
		return nil
	}
	if m.token, err = judge.ParseToken(registry, m.Token); err != nil {
		return fmt.Errorf("robots_disallowed: %w", err)
	}
	if !policy.NameMatches(m.token, m.token) || strings.ContainsAny(m.token, "*,;/() ") {
		return fmt.Errorf("robots_disallowed: %q is not a product token; write a crawler's name as in robots.txt, such as GPTBot, or * for crawlers that no group names", m.Token)
	}
	return nil
}

// Provision sets up the matcher.
func (m *MatchDisallowed) Provision(ctx caddy.Context) (err error) {
	app, err := UseApp(ctx)
	if err != nil {
		return err
	}
	if err := m.parse(app.registry); err != nil {
		return option.AddCaddyfileLine(m.CaddyfileLine, err)
	}
	if m.token != "" {
		app.usesPathVerdict = true
	}
	return app.CheckOrder(ctx)
}

// MatchWithError reports whether the request matches. The error is always nil.
func (m MatchDisallowed) MatchWithError(r *http.Request) (bool, error) {
	if m.token != "" {
		return guard.PathVerdictOf(r, m.token) == guard.PathDisallowed, nil
	}
	j := judgementFromRequest(r)
	return j != nil && j.Verdict == judge.Disallowed, nil
}

// CELLibrary lets expressions use the matcher.
//
// Example:
//
//	expression robots_disallowed('*') && method('POST')
func (MatchDisallowed) CELLibrary(ctx caddy.Context) (cel.Library, error) {
	return newCELLibrary("robots_disallowed", func(tokens []string) (caddyhttp.RequestMatcherWithError, error) {
		if len(tokens) > 1 {
			return nil, errors.New("robots_disallowed takes one product token, or * for all crawlers that no group names")
		}
		m := MatchDisallowed{Token: strings.Join(tokens, "")}
		err := m.Provision(ctx)
		return m, err
	})
}

// checkOrder returns an error if a handler or matcher of this module has a wrong position.
func checkOrder(ctx caddy.Context) error {
	app, err := UseApp(ctx)
	if err != nil {
		return err
	}
	return app.CheckOrder(ctx)
}

// judgementFromRequest returns the judgement of a robots_guard that has handled the request, or
// nil.
func judgementFromRequest(r *http.Request) *guard.Judgement {
	j, _ := caddyhttp.GetVar(r.Context(), guard.Var).(*guard.Judgement)
	return j
}

// Interface guards
var (
	_ caddy.Provisioner                 = (*MatchCrawler)(nil)
	_ caddyfile.Unmarshaler             = (*MatchCrawler)(nil)
	_ caddyhttp.RequestMatcherWithError = (*MatchCrawler)(nil)
	_ caddyhttp.CELLibraryProducer      = (*MatchCrawler)(nil)
	_ caddy.Provisioner                 = (*MatchDisallowed)(nil)
	_ caddyfile.Unmarshaler             = (*MatchDisallowed)(nil)
	_ caddyhttp.RequestMatcherWithError = (*MatchDisallowed)(nil)
	_ caddyhttp.CELLibraryProducer      = (*MatchDisallowed)(nil)
)

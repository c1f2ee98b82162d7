package caddymodule

import (
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/dashboard"
	"github.com/robotsguard/caddy-robots-guard/internal/option"
)

func init() {
	caddy.RegisterModule(Dashboard{})
	httpcaddyfile.RegisterDirective("robots_guard_dashboard", parseDashboard)
	httpcaddyfile.RegisterDirectiveOrder("robots_guard_dashboard", httpcaddyfile.Before, "metrics")
}

// Dashboard serves a page about the crawlers at all sites of this server, and its data as JSON and
// CSV. The handler responds to every request. Put authentication before the handler, because the
// page shows paths, User-Agents and shortened addresses. An authenticated user can acknowledge
// alerts and change nothing else.
type Dashboard struct {
	// Whether the page needs no authentication. Otherwise the guard warns if no authentication
	// precedes the dashboard. Default: `false`.
	Public bool `json:"public,omitempty"`

	handler http.Handler
}

// CaddyModule returns the Caddy module information.
func (Dashboard) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.handlers.robots_guard_dashboard",
		New: func() caddy.Module { return new(Dashboard) },
	}
}

// Provision sets up the handler.
func (d *Dashboard) Provision(ctx caddy.Context) error {
	app, err := UseApp(ctx)
	if err != nil {
		return err
	}
	d.handler = dashboard.New(func() dashboard.Views { return app.state.Reports(time.Now()) }, app.state.Alerts, userName)
	return app.CheckOrder(ctx)
}

// userName returns the name of the authenticated user of a request, or "".
func userName(r *http.Request) string {
	repl, _ := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if repl == nil {
		return ""
	}
	user, _ := repl.GetString("http.auth.user.id")
	return user
}

// ServeHTTP selects the file by the last part of the URL that the client requested, before any
// rewrite. Links of the page are relative to that URL.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	if original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok && original.URL != nil {
		originalReq := *r
		originalReq.URL = original.URL
		r = &originalReq
	}
	d.handler.ServeHTTP(w, r)
	return nil
}

// parseDashboard parses the directive robots_guard_dashboard. A path matcher such as /bots also
// matches the paths below /bots, because the page loads files from there.
func parseDashboard(h httpcaddyfile.Helper) ([]httpcaddyfile.ConfigValue, error) {
	h.Next() // This skips the directive's name.
	var arg string
	if h.NextArg() {
		arg = h.Val()
		h.Prev()
	}
	matchers, err := option.ExtractMatcher(h)
	if err != nil {
		return nil, err
	}
	switch prefix := strings.TrimRight(strings.TrimSuffix(arg, "*"), "/"); {
	case !strings.HasPrefix(arg, "/") || strings.Contains(prefix, "*"):
	case prefix == "":
		matchers = nil // This matches all paths.
	default:
		matchers = caddy.ModuleMap{"path": h.JSON(caddyhttp.MatchPath{prefix, prefix + "/*"})}
	}
	d := new(Dashboard)
	if err := d.UnmarshalCaddyfile(h.Dispenser); err != nil {
		return nil, err
	}
	return h.NewRoute(matchers, d), nil
}

// UnmarshalCaddyfile sets up the handler from Caddyfile tokens. Syntax:
//
//	robots_guard_dashboard [<matcher>] [public]
func (d *Dashboard) UnmarshalCaddyfile(disp *caddyfile.Dispenser) error {
	disp.Next() // This skips the directive's name.
	for disp.NextArg() {
		if disp.Val() != "public" || d.Public {
			return disp.Errf("unexpected argument %q; robots_guard_dashboard takes a path such as /robots-guard, or another matcher, and public", disp.Val())
		}
		d.Public = true
	}
	if disp.NextBlock(disp.Nesting()) {
		return disp.Errf("unrecognized subdirective %q; robots_guard_dashboard has none", disp.Val())
	}
	return nil
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Dashboard)(nil)
	_ caddyfile.Unmarshaler       = (*Dashboard)(nil)
	_ caddyhttp.MiddlewareHandler = (*Dashboard)(nil)
)

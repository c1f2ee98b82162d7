package caddymodule

import (
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/dashboard"
)

func init() {
	caddy.RegisterModule(Dashboard{})
	httpcaddyfile.RegisterHandlerDirective("robots_guard_dashboard", parseDashboard)
	httpcaddyfile.RegisterDirectiveOrder("robots_guard_dashboard", httpcaddyfile.Before, "metrics")
}

// Dashboard serves a page that shows what crawlers do at all sites of this
// server, and the data behind it as JSON and CSV. It answers every request that
// reaches it and changes nothing. Whoever may see the page sees paths,
// User-Agents and shortened addresses: put authentication before it.
type Dashboard struct {
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
	app, err := AppOf(ctx)
	if err != nil {
		return err
	}
	d.handler = dashboard.New(func() dashboard.Views { return app.state.Reports(time.Now()) })
	return app.checkPlaces(ctx)
}

// ServeHTTP answers by the URL that the client asked for: its last part names
// the file, and the page's links are relative to it, whatever path was stripped
// or rewritten before.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	if original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok && original.URL != nil {
		asked := *r
		asked.URL = original.URL
		r = &asked
	}
	d.handler.ServeHTTP(w, r)
	return nil
}

func parseDashboard(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	d := new(Dashboard)
	return d, d.UnmarshalCaddyfile(h.Dispenser)
}

// UnmarshalCaddyfile sets up the handler from Caddyfile tokens. Syntax:
//
//	robots_guard_dashboard [<matcher>]
func (d *Dashboard) UnmarshalCaddyfile(disp *caddyfile.Dispenser) error {
	disp.Next() // the directive's name
	if disp.NextArg() {
		return disp.Errf("unexpected argument %q; robots_guard_dashboard takes a matcher only, such as /robots-guard/*", disp.Val())
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

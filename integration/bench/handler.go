package main

import (
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// empty is a handler that does nothing: what Caddy itself spends on another
// directive in a site.
type empty struct{}

func init() {
	caddy.RegisterModule(new(empty))
	httpcaddyfile.RegisterHandlerDirective("bench_empty", func(httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
		return new(empty), nil
	})
	httpcaddyfile.RegisterDirectiveOrder("bench_empty", httpcaddyfile.Before, "redir")
}

// CaddyModule returns how Caddy finds the handler.
func (*empty) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.bench_empty", New: func() caddy.Module { return new(empty) }}
}

func (*empty) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	return next.ServeHTTP(w, r)
}

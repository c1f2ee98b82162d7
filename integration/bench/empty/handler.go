// Package empty provides a Caddy handler that does nothing. It measures what Caddy
// itself spends on an additional directive.
package empty

import (
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// Directive is the name of the handler's directive in a Caddyfile. It takes no
// arguments.
const Directive = "bench_empty"

// Handler passes every request to the next handler.
type Handler struct{}

func init() {
	caddy.RegisterModule(new(Handler))
	httpcaddyfile.RegisterHandlerDirective(Directive, func(httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
		return new(Handler), nil
	})
	httpcaddyfile.RegisterDirectiveOrder(Directive, httpcaddyfile.Before, "redir")
}

// CaddyModule returns the Caddy module information.
func (*Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.bench_empty", New: func() caddy.Module { return new(Handler) }}
}

// ServeHTTP calls the next handler.
func (*Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	return next.ServeHTTP(w, r)
}

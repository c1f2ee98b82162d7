package option

import (
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
)

// RegisterDirective is like [httpcaddyfile.RegisterHandlerDirective], but parses matchers with
// [ExtractMatcher].
func RegisterDirective(name string, parse httpcaddyfile.UnmarshalHandlerFunc) {
	httpcaddyfile.RegisterDirective(name, func(h httpcaddyfile.Helper) ([]httpcaddyfile.ConfigValue, error) {
		if !h.Next() {
			return nil, h.ArgErr()
		}
		matchers, err := ExtractMatcher(h)
		if err != nil {
			return nil, err
		}
		handler, err := parse(h)
		if err != nil {
			return nil, err
		}
		return h.NewRoute(matchers, handler), nil
	})
}

// ExtractMatcher removes the matcher from a directive's tokens and returns the matcher. Unlike Caddy's
// error, the error for an undefined matcher names the line.
func ExtractMatcher(h httpcaddyfile.Helper) (caddy.ModuleMap, error) {
	matchers, err := h.ExtractMatcherSet()
	switch name := h.Val(); {
	case err == nil:
		return matchers, nil
	case strings.HasPrefix(name, "@"):
		return nil, h.Errf("%w; define it in this site, such as %s path /private/*", err, name)
	}
	return nil, h.WrapErr(err)
}

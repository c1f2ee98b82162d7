package option

import (
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
)

// RegisterDirective is [httpcaddyfile.RegisterHandlerDirective] with [Matcher].
func RegisterDirective(name string, parse httpcaddyfile.UnmarshalHandlerFunc) {
	httpcaddyfile.RegisterDirective(name, func(h httpcaddyfile.Helper) ([]httpcaddyfile.ConfigValue, error) {
		if !h.Next() {
			return nil, h.ArgErr()
		}
		matchers, err := Matcher(h)
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

// Matcher takes the matcher of a directive out of its tokens. An error for a matcher that is not
// defined names the line, which Caddy's does not.
func Matcher(h httpcaddyfile.Helper) (caddy.ModuleMap, error) {
	matchers, err := h.ExtractMatcherSet()
	switch name := h.Val(); {
	case err == nil:
		return matchers, nil
	case strings.HasPrefix(name, "@"):
		return nil, h.Errf("%w; define it in this site, such as %s path /private/*", err, name)
	}
	return nil, h.WrapErr(err)
}

// Package directive registers directives of a Caddyfile, with errors that say where a matcher
// stands that nobody has defined, and which is likely meant.
package directive

import (
	"reflect"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/internal/spelling"
)

// Register is [httpcaddyfile.RegisterHandlerDirective] for which [Matcher] takes the matcher.
func Register(name string, parse httpcaddyfile.UnmarshalHandlerFunc) {
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

// Matcher takes the matcher of a directive out of its tokens.
func Matcher(h httpcaddyfile.Helper) (caddy.ModuleMap, error) {
	matchers, err := h.ExtractMatcherSet()
	if err == nil {
		return matchers, nil
	}
	name, known := h.Val(), definedMatchers(h)
	if !strings.HasPrefix(name, "@") {
		return nil, h.WrapErr(err)
	}
	hint := "define it in this site, such as " + name + " path /private/*"
	if near := spelling.Near(name, known); near != "" {
		hint = "did you mean " + near + "?"
	} else if len(known) > 1 {
		hint += "; known are " + option.Listed(known, "and")
	} else if len(known) == 1 {
		hint += "; known is " + known[0]
	}
	return nil, h.Errf("%w; %s", err, hint)
}

// definedMatchers returns the names of the matchers that may stand behind a directive. Caddy
// keeps them to itself; should it keep them otherwise one day, none is proposed.
func definedMatchers(h httpcaddyfile.Helper) (names []string) {
	defined := reflect.ValueOf(h).FieldByName("matcherDefs")
	if defined.Kind() != reflect.Map {
		return nil
	}
	for _, key := range defined.MapKeys() {
		names = append(names, key.String())
	}
	slices.Sort(names)
	return names
}

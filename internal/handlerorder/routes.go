package handlerorder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// allServers yields the names and the servers of the HTTP app, sorted by name. ctx belongs to a
// handler in the app.
func allServers(ctx caddy.Context) iter.Seq2[string, *caddyhttp.Server] {
	return func(yield func(string, *caddyhttp.Server) bool) {
		for _, module := range ctx.Modules() {
			app, ok := module.(*caddyhttp.App)
			if !ok {
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(app.Servers)) {
				if !yield(name, app.Servers[name]) {
					return
				}
			}
		}
	}
}

// routesAsJSON converts routes back to their JSON form. Caddy has already provisioned the matchers,
// and the handlers before the first handler of this module.
func routesAsJSON(list caddyhttp.RouteList) []Route {
	routes := make([]Route, len(list))
	for i, r := range list {
		routes[i] = Route{Group: r.Group, Handle: r.HandlersRaw, Terminal: r.Terminal}
		for _, handler := range r.Handlers {
			name := caddy.GetModuleName(handler)
			config := caddyconfig.JSONModuleObject(handler, "handler", name, nil)
			if config == nil { // The handler has a field without a JSON form.
				config = caddyconfig.JSON(map[string]string{"handler": name}, nil)
			}
			routes[i].Handle = append(routes[i].Handle, config)
		}
		// Caddy provisions the matchers of error routes and of named routes last.
		for _, set := range r.MatcherSetsRaw {
			routes[i].Match = append(routes[i].Match, set)
		}
		for _, set := range r.MatcherSets {
			routes[i].Match = append(routes[i].Match, matcherSetAsJSON(set))
		}
	}
	return routes
}

// RoutesContain reports whether the JSON of the HTTP app's routes contains any of the given
// strings. Like [Check], RoutesContain must run during Provision of the first handler of this
// module.
func RoutesContain(ctx caddy.Context, texts ...string) bool {
	for _, server := range allServers(ctx) {
		lists := []caddyhttp.RouteList{server.Routes}
		if server.Errors != nil {
			lists = append(lists, server.Errors.Routes)
		}
		for _, route := range server.NamedRoutes {
			lists = append(lists, caddyhttp.RouteList{*route})
		}
		for _, list := range lists {
			config := caddyconfig.JSON(routesAsJSON(list), nil)
			if slices.ContainsFunc(texts, func(text string) bool { return bytes.Contains(config, []byte(text)) }) {
				return true
			}
		}
	}
	return false
}

func matcherSetAsJSON(set caddyhttp.MatcherSet) map[string]json.RawMessage {
	matchers := make(map[string]json.RawMessage, len(set))
	for _, matcher := range set {
		name := caddy.GetModuleName(matcher)
		// These matchers keep their JSON configuration.
		if matchers[name] = matcherAsJSON(matcher); name == "robots_crawler" || slices.Contains(verdictMatchers, name) {
			matchers[name] = caddyconfig.JSON(matcher, nil)
		}
	}
	return matchers
}

// matcherAsJSON returns a JSON value that distinguishes a matcher from other matchers of its type.
// Many matchers lose their JSON when Caddy provisions them. For such a matcher, the value is its
// address in memory.
func matcherAsJSON(matcher any) json.RawMessage {
	switch matcher := matcher.(type) {
	case *caddyhttp.MatchNot:
		sets := make([]map[string]json.RawMessage, len(matcher.MatcherSets))
		for i, set := range matcher.MatcherSets {
			sets[i] = matcherSetAsJSON(set)
		}
		return caddyconfig.JSON(sets, nil)
	case *caddyhttp.MatchHost, caddyhttp.MatchHost, // Automatic HTTPS adds a MatchHost that is not a pointer.
		*caddyhttp.MatchPath, *caddyhttp.MatchMethod, *caddyhttp.MatchHeader, *caddyhttp.MatchQuery,
		*caddyhttp.VarsMatcher, *caddyhttp.MatchExpression:
		return caddyconfig.JSON(matcher, nil)
	}
	return caddyconfig.JSON(fmt.Sprintf("%p", matcher), nil)
}

package placement

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

// servers yields the servers of the HTTP app that ctx, of a handler in it, belongs to, by name.
func servers(ctx caddy.Context) iter.Seq2[string, *caddyhttp.Server] {
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

// routesOf returns routes as JSON has them: their matchers are provisioned, and so
// are the handlers of those before the first of ours.
func routesOf(list caddyhttp.RouteList) []Route {
	routes := make([]Route, len(list))
	for i, r := range list {
		routes[i] = Route{Group: r.Group, Handle: r.HandlersRaw, Terminal: r.Terminal}
		for _, handler := range r.Handlers {
			name := caddy.GetModuleName(handler)
			config := caddyconfig.JSONModuleObject(handler, "handler", name, nil)
			if config == nil { // it keeps something that JSON has no words for
				config = caddyconfig.JSON(map[string]string{"handler": name}, nil)
			}
			routes[i].Handle = append(routes[i].Handle, config)
		}
		for _, set := range r.MatcherSetsRaw { // of error routes, whose turn comes last
			routes[i].Match = append(routes[i].Match, set)
		}
		for _, set := range r.MatcherSets {
			routes[i].Match = append(routes[i].Match, setJSON(set))
		}
	}
	return routes
}

// Mentions reports whether the routes of the HTTP app that ctx, of a handler in it, belongs to
// contain one of some texts. Like [Check] it is for the Provision of the first of our handlers.
func Mentions(ctx caddy.Context, texts ...string) bool {
	for _, server := range servers(ctx) {
		all := []caddyhttp.RouteList{server.Routes}
		if server.Errors != nil {
			all = append(all, server.Errors.Routes)
		}
		for _, route := range server.NamedRoutes {
			all = append(all, caddyhttp.RouteList{*route})
		}
		for _, list := range all {
			config := caddyconfig.JSON(routesOf(list), nil)
			if slices.ContainsFunc(texts, func(text string) bool { return bytes.Contains(config, []byte(text)) }) {
				return true
			}
		}
	}
	return false
}

func setJSON(set caddyhttp.MatcherSet) map[string]json.RawMessage {
	matchers := make(map[string]json.RawMessage, len(set))
	for _, matcher := range set {
		name := caddy.GetModuleName(matcher)
		if matchers[name] = matcherJSON(matcher); name == "robots_crawler" || name == Disallowed { // which keep their JSON
			matchers[name] = caddyconfig.JSON(matcher, nil)
		}
	}
	return matchers
}

// matcherJSON returns what tells a matcher from others of its kind. Many lose their
// JSON when they are provisioned; those are told apart by where they are.
func matcherJSON(matcher any) json.RawMessage {
	switch matcher := matcher.(type) {
	case *caddyhttp.MatchNot:
		sets := make([]map[string]json.RawMessage, len(matcher.MatcherSets))
		for i, set := range matcher.MatcherSets {
			sets[i] = setJSON(set)
		}
		return caddyconfig.JSON(sets, nil)
	case *caddyhttp.MatchHost, caddyhttp.MatchHost, // the latter by automatic HTTPS
		*caddyhttp.MatchPath, *caddyhttp.MatchMethod, *caddyhttp.MatchHeader, *caddyhttp.MatchQuery,
		*caddyhttp.VarsMatcher, *caddyhttp.MatchExpression:
		return caddyconfig.JSON(matcher, nil)
	}
	return caddyconfig.JSON(fmt.Sprintf("%p", matcher), nil)
}

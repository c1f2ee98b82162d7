package origin

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// selfTestHost is the part of a made-up host that stands for a wildcard.
const selfTestHost = "robots-guard-self-test"

// SelfTestHandler is how the self-test sees a handler of a configuration.
type SelfTestHandler struct {
	// Source fetches the robots.txt of the server, nil for a handler that is not ours.
	Source *Server
	// Composes is true for a robots_txt, which has to be asked for /robots.txt.
	Composes bool
}

// SelfTestSites returns the hosts of each server that have a handler of ours, in the order of the
// configuration.
func SelfTestSites(sites *request.Sites, describe func(caddyhttp.MiddlewareHandler) SelfTestHandler) iter.Seq[SelfTestSite] {
	return func(yield func(SelfTestSite) bool) {
		for _, server := range sites.Servers() {
			handlers, hosts := handlersOf(server, describe)
			for _, host := range hosts {
				if site, ok := siteAt(server, sites.Of(server), host, handlers[host]); ok && !yield(site) {
					return
				}
			}
		}
	}
}

// handlersOf returns our handlers at each host of a server as one; "" stands for any host.
func handlersOf(server *caddyhttp.Server, describe func(caddyhttp.MiddlewareHandler) SelfTestHandler) (handlers map[string]SelfTestHandler, hosts []string) {
	handlers = make(map[string]SelfTestHandler)
	request.Walk(server, func(p request.Place, route caddyhttp.Route) {
		for _, handler := range route.Handlers {
			here := describe(handler)
			here.Composes = here.Composes && !isConditional(route)
			if here.Source == nil || p.Errors {
				continue
			}
			names := p.Hosts
			if len(names) == 0 {
				names = []string{""}
			}
			for _, name := range names {
				known, ok := handlers[name]
				if !ok {
					hosts = append(hosts, name)
				}
				handlers[name] = SelfTestHandler{Source: cmp.Or(known.Source, here.Source), Composes: known.Composes || here.Composes}
			}
		}
	})
	return handlers, hosts
}

// isConditional reports whether a route is for some requests only, by more than host and path.
func isConditional(route caddyhttp.Route) bool {
	return slices.ContainsFunc(route.MatcherSets, func(set caddyhttp.MatcherSet) bool {
		return slices.ContainsFunc(set, func(matcher any) bool {
			switch matcher.(type) {
			case *caddyhttp.MatchHost, *caddyhttp.MatchPath:
				return false
			}
			return true
		})
	})
}

// siteAt returns a host of a server. Its requests name no port, as those of clients at a port
// that is mapped. ok is false for a host with a placeholder, which only clients know.
func siteAt(server *caddyhttp.Server, hosts *request.Hosts, host string, handler SelfTestHandler) (site SelfTestSite, ok bool) {
	if strings.ContainsAny(host, "{}") {
		return site, false
	}
	name := strings.ReplaceAll(host, "*", selfTestHost)
	if host == "" {
		name = selfTestHost + ".invalid" // RFC 6761: nobody has it
	}
	secure := len(server.TLSConnPolicies) > 0
	key := hosts.KeyAt(request.AsSent(name, secure), secure)
	r := request.For(server, key, nil)
	if r == nil {
		return site, false
	}
	site = SelfTestSite{Name: key.String(), Label: request.NewSite(key).Label, Unknown: name != host}
	if handler.Composes {
		site.Reached = new(atomic.Bool)
		r = r.WithContext(context.WithValue(r.Context(), reachedKey{}, site.Reached))
	}
	site.Fetch = func(ctx context.Context, userAgent string) policy.Answer {
		fetch, _ := handler.Source.PrepareAs(r, key, userAgent) // the request names a server
		return fetch(ctx, nil)
	}
	return site, true
}

// reachedKey is where the context of a request of the self-test has what [NoteSelfTest] sets.
type reachedKey struct{}

// NoteSelfTest notes that a robots_txt is asked for /robots.txt by the self-test, which the access
// log then leaves out.
func NoteSelfTest(ctx context.Context) {
	if reached, ok := ctx.Value(reachedKey{}).(*atomic.Bool); ok {
		reached.Store(true)
		caddyhttp.SetVar(ctx, caddyhttp.LogSkipVar, true)
	}
}

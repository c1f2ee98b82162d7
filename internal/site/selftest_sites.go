package site

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// selfTestHost replaces the wildcard label in an invented host name.
const selfTestHost = "robots-guard-self-test"

// SelfTestHandler describes a handler of the configuration for [SelfTestSites].
type SelfTestHandler struct {
	// Source fetches the robots.txt of the handler's server. It is nil for handlers of other
	// modules, which the self-test ignores.
	Source *ServerSource
	// IsRobotsTxt is true for a robots_txt handler, which must receive the request for /robots.txt.
	IsRobotsTxt bool
}

// SelfTestSites yields the hosts that have a handler of this project, in the order of the servers
// and of their routes.
func SelfTestSites(sites *Sites, describe func(caddyhttp.MiddlewareHandler) SelfTestHandler) iter.Seq[SelfTestSite] {
	return func(yield func(SelfTestSite) bool) {
		for _, server := range sites.Servers() {
			handlers, hosts := handlersByHost(server, describe)
			for _, host := range hosts {
				if site, ok := newSelfTestSite(server, sites.HostsOfServer(server), host, handlers[host]); ok && !yield(site) {
					return
				}
			}
		}
	}
}

// handlersByHost returns the hosts of a server that have handlers of this project, and merges the
// handlers of each host. The empty host stands for any host.
func handlersByHost(server *caddyhttp.Server, describe func(caddyhttp.MiddlewareHandler) SelfTestHandler) (handlers map[string]SelfTestHandler, hosts []string) {
	handlers = make(map[string]SelfTestHandler)
	WalkRoutes(server, func(place RoutePlace, route caddyhttp.Route) {
		for _, handler := range route.Handlers {
			described := describe(handler)
			described.IsRobotsTxt = described.IsRobotsTxt && !isConditional(route)
			if described.Source == nil || place.IsErrorRoute {
				continue
			}
			names := place.Hosts
			if len(names) == 0 {
				names = []string{""}
			}
			for _, name := range names {
				existing, ok := handlers[name]
				if !ok {
					hosts = append(hosts, name)
				}
				handlers[name] = SelfTestHandler{Source: cmp.Or(existing.Source, described.Source), IsRobotsTxt: existing.IsRobotsTxt || described.IsRobotsTxt}
			}
		}
	})
	return handlers, hosts
}

// isConditional reports whether a route has matchers other than host and path.
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

// newSelfTestSite returns the self-test's site for a host of a server. Its requests name no port,
// like requests of clients behind port mapping. ok is false for a host with a placeholder.
func newSelfTestSite(server *caddyhttp.Server, hosts *Hosts, host string, handler SelfTestHandler) (site SelfTestSite, ok bool) {
	if strings.ContainsAny(host, "{}") {
		return site, false
	}
	name := strings.ReplaceAll(host, "*", selfTestHost)
	if host == "" {
		name = selfTestHost + ".invalid" // RFC 6761 reserves this name.
	}
	secure := usesTLS(server)
	key := hosts.KeyForAuthority(HostAsSent(name, secure), secure)
	req := NewGuardRequest(server, key, nil)
	if req == nil {
		return site, false
	}
	site = SelfTestSite{Name: key.String(), Label: NewSite(key).Label, IsInventedHost: name != host}
	if handler.IsRobotsTxt {
		site.ReceivedRequest = new(atomic.Bool)
		req = req.WithContext(context.WithValue(req.Context(), receivedRequestKey{}, site.ReceivedRequest))
	}
	site.Fetch = func(ctx context.Context, userAgent string) policy.FetchResult {
		// ok is true, because the context of req has a server.
		fetch, _ := handler.Source.PrepareWithUserAgent(req, key, userAgent)
		return fetch(ctx, nil)
	}
	return site, true
}

// receivedRequestKey is the context key for [SelfTestSite].ReceivedRequest.
type receivedRequestKey struct{}

// RecordSelfTestRequest records that robots_txt received a request of the self-test, and omits the
// request from the access log. It does nothing for other requests.
func RecordSelfTestRequest(ctx context.Context) {
	if received, ok := ctx.Value(receivedRequestKey{}).(*atomic.Bool); ok {
		received.Store(true)
		caddyhttp.SetVar(ctx, caddyhttp.LogSkipVar, true)
	}
}

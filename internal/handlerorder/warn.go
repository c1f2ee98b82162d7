package handlerorder

import (
	"encoding/json"
	"net/netip"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
)

// warnAboutCaches logs a warning about each cache that responds before a guard.
func warnAboutCaches(placed []*PlacedHandler, logger *zap.Logger) {
	for _, p := range placed {
		if p.cacheName != "" {
			logger.Warn(p.cacheName+" comes before robots_guard and sends disallowed crawlers cached pages without a verdict; "+
				"remove it from the global option order, or write robots_guard before it in the route", zap.String("site", p.SiteName()))
		}
	}
}

// precedingCache returns the name of a cache that responds before this guard, or an empty string.
// precedingCache ignores a cache for only some clients.
func (p *PlacedHandler) precedingCache() string {
	if p.Name != Guard {
		return ""
	}
	for b := p.precedingHandlers.nearestCache(); b != nil; b = b.cache {
		isForOther := slices.Contains(p.groups, b.group) || !hostsOverlap(b.hosts, p.Hosts) || len(p.Matchers) > 0 && !isReachedFrom(p.requestKey, b.requestKey)
		if !isForOther && !slices.ContainsFunc(b.matchers, func(m Matcher) bool { return !m.ignoresClient() }) {
			return b.name
		}
	}
	return ""
}

// warnAboutOpenDashboards logs a warning about each dashboard that anybody can open.
func warnAboutOpenDashboards(server *caddyhttp.Server, placed []*PlacedHandler, logger *zap.Logger) {
	for _, d := range placed {
		if d.Name != Dashboard || !d.isUnauthenticated || isLoopbackOnly(server) || requiresClientCertificate(server) {
			continue
		}
		logger.Warn("everybody who can reach this server can open the dashboard, because it has no authentication; "+
			"put basic_auth before it, or write robots_guard_dashboard public",
			zap.String("site", d.SiteName()), zap.Strings("listen", server.Listen))
	}
}

// openHandlers are handlers of Caddy and of this module that do not authenticate clients. Any other
// handler may authenticate clients.
var openHandlers = []string{
	"acme_server", "copy_response", "copy_response_headers", "encode", "error", "file_server", "headers", "intercept", "log_append", "map", "metrics",
	"push", "request_body", "reverse_proxy", "rewrite", "static_response", "subroute", "templates", "tracing", "vars", Guard, Dashboard, RobotsTXT,
}

// openMatchers are matchers that any client can satisfy. Other matchers, for example remote_ip, may
// exclude clients.
var openMatchers = []string{"file", "method", "path", "path_regexp", "protocol", "query", "robots_crawler", Disallowed}

// lacksAuthentication reports whether this is a dashboard without the option public that certainly
// no handler or matcher protects.
func (p *PlacedHandler) lacksAuthentication() bool {
	var d struct {
		Public bool `json:"public"`
	}
	if err := json.Unmarshal(p.Config, &d); p.Name != Dashboard || err != nil || d.Public {
		return false
	}
	restrictsClients := func(m Matcher) bool {
		return m.satisfiesInEachSet(func(m Matcher) bool { return !slices.Contains(openMatchers, m.Name) })
	}
	if slices.ContainsFunc(p.Matchers, restrictsClients) {
		return false
	}
	for b := p.precedingHandlers; b != nil; b = b.previous {
		if slices.Contains(p.groups, b.group) {
			continue // The handler is in another route of the group.
		}
		if !slices.Contains(openHandlers, b.name) || b.asksOtherServer || slices.ContainsFunc(b.matchers, restrictsClients) {
			return false
		}
	}
	return true
}

// isLoopbackOnly reports whether a server listens only on loopback addresses and Unix sockets. A file
// descriptor from another process, for example systemd, may be a socket of any address.
func isLoopbackOnly(server *caddyhttp.Server) bool {
	return !slices.ContainsFunc(server.Listen, func(listen string) bool {
		a, err := caddy.ParseNetworkAddress(listen)
		if err != nil || a.IsUnixNetwork() || a.Host == "localhost" {
			return false
		}
		ip, err := netip.ParseAddr(a.Host)
		return err != nil || !ip.IsLoopback()
	})
}

// requiresClientCertificate reports whether clients must present a certificate.
func requiresClientCertificate(server *caddyhttp.Server) bool {
	for _, policy := range server.TLSConnPolicies {
		if policy.ClientAuthentication != nil {
			return true
		}
	}
	return false
}

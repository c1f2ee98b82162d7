package placement

import (
	"encoding/json"
	"net/netip"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
)

// warnCaches logs a warning about each cache before a guard.
func warnCaches(placed []*Placed, logger *zap.Logger) {
	for _, p := range placed {
		if p.cached != "" {
			logger.Warn(p.cached+" comes before robots_guard and sends disallowed crawlers cached pages without a verdict; "+
				"remove it from the global option order, or write robots_guard before it in the route", zap.String("site", p.Site()))
		}
	}
}

// cachedBy returns the name of a cache before a guard, or an empty string. It ignores a cache that
// serves only some clients.
func (p *Placed) cachedBy() string {
	if p.Name != Guard {
		return ""
	}
	for b := p.before.nearestCache(); b != nil; b = b.cache {
		isForOther := slices.Contains(p.groups, b.group) || !share(b.hosts, p.Hosts) || len(p.Matches) > 0 && !within(p.reach, b.reach)
		if !isForOther && !slices.ContainsFunc(b.matches, func(m Match) bool { return !m.isForAnybody() }) {
			return b.name
		}
	}
	return ""
}

// warnDashboards logs a warning about each dashboard that anybody can open.
func warnDashboards(server *caddyhttp.Server, placed []*Placed, logger *zap.Logger) {
	for _, d := range placed {
		if d.Name != Dashboard || !d.open || isLocal(server) || asksForCertificates(server) {
			continue
		}
		logger.Warn("everybody who can reach this server can open the dashboard, because it has no authentication; "+
			"put basic_auth before it, or write robots_guard_dashboard public",
			zap.String("site", d.Site()), zap.Strings("listen", server.Listen))
	}
}

// harmless are handlers of Caddy and of this module that pass all clients through. Any other
// handler may authenticate clients.
var harmless = []string{
	"acme_server", "copy_response", "copy_response_headers", "encode", "error", "file_server", "headers", "intercept", "log_append", "map", "metrics",
	"push", "request_body", "reverse_proxy", "rewrite", "static_response", "subroute", "templates", "tracing", "vars", Guard, Dashboard, RobotsTXT,
}

// indifferent are matchers that any client can satisfy. Other matchers, such as remote_ip, may
// exclude clients.
var indifferent = []string{"file", "method", "path", "path_regexp", "protocol", "query", "robots_crawler", "robots_disallowed"}

// isOpen reports whether certainly no handler or matcher restricts access to a dashboard.
func (p *Placed) isOpen() bool {
	var d struct {
		Public bool `json:"public"`
	}
	if err := json.Unmarshal(p.Config, &d); p.Name != Dashboard || err != nil || d.Public {
		return false
	}
	chooses := func(m Match) bool {
		return m.inEach(func(m Match) bool { return !slices.Contains(indifferent, m.Name) })
	}
	if slices.ContainsFunc(p.Matches, chooses) {
		return false
	}
	for b := p.before; b != nil; b = b.before {
		if slices.Contains(p.groups, b.group) {
			continue // in another route of the group
		}
		if !slices.Contains(harmless, b.name) || b.asks || slices.ContainsFunc(b.matches, chooses) {
			return false
		}
	}
	return true
}

// isLocal reports whether a server listens only on loopback addresses.
func isLocal(server *caddyhttp.Server) bool {
	return !slices.ContainsFunc(server.Listen, func(listen string) bool {
		a, err := caddy.ParseNetworkAddress(listen)
		if err != nil || a.IsUnixNetwork() || a.IsFdNetwork() || a.Host == "localhost" {
			return false
		}
		ip, err := netip.ParseAddr(a.Host)
		return err != nil || !ip.IsLoopback()
	})
}

// asksForCertificates reports whether clients must present a certificate.
func asksForCertificates(server *caddyhttp.Server) bool {
	for _, policy := range server.TLSConnPolicies {
		if policy.ClientAuthentication != nil {
			return true
		}
	}
	return false
}

package placement

import (
	"encoding/json"
	"net/netip"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
)

// warnCaches warns of caches before a guard.
func warnCaches(placed []*Placed, logger *zap.Logger) {
	for _, p := range placed {
		if p.cached != "" {
			logger.Warn(p.cached+" comes before robots_guard and sends disallowed crawlers cached pages without a verdict; "+
				"remove it from the global option order, or write robots_guard before it in the route", zap.String("site", p.Site()))
		}
	}
}

// cachedBy returns the name of a cache that requests come through before a guard, "" for
// none. A cache for some clients only is left out.
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

// warnDashboards tells of dashboards that everybody can open.
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

// harmless are the handlers of Caddy, and ours, that let everybody pass. Any other
// may ask who it is.
var harmless = []string{
	"acme_server", "copy_response", "copy_response_headers", "encode", "error", "file_server", "headers", "intercept", "log_append", "map", "metrics",
	"push", "request_body", "reverse_proxy", "rewrite", "static_response", "subroute", "templates", "tracing", "vars", Guard, Dashboard, RobotsTXT,
}

// indifferent are the matchers that look only at what everybody may ask for. Any
// other, such as remote_ip, may let only some pass.
var indifferent = []string{"file", "method", "path", "path_regexp", "protocol", "query", "robots_crawler", "robots_disallowed"}

// isOpen reports whether nothing on the way to a dashboard can keep anybody out. If in
// doubt it is not open.
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
			continue // of another route of the group
		}
		if !slices.Contains(harmless, b.name) || b.asks || slices.ContainsFunc(b.matches, chooses) {
			return false
		}
	}
	return true
}

// isLocal reports whether a server listens on this machine's own addresses only.
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

// asksForCertificates reports whether clients have to show a certificate.
func asksForCertificates(server *caddyhttp.Server) bool {
	for _, policy := range server.TLSConnPolicies {
		if policy.ClientAuthentication != nil {
			return true
		}
	}
	return false
}

package placement

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
)

// checkDashboards finds dashboards that do nothing or too much: one to which no
// request comes, one whose files no request comes to, and one that answers in
// place of the site.
func checkDashboards(placed []*Placed) error {
	for _, d := range placed {
		switch {
		case d.Name != Dashboard:
		case d.Behind != "":
			return fmt.Errorf("%s: robots_guard_dashboard stands behind %s, which answers every request, so that none comes to it; "+
				"write handle /robots-guard* { robots_guard_dashboard } and put the rest of the site into handle { ... }", d.Site(), d.Behind)
		case d.Hides != "":
			return fmt.Errorf("%s: robots_guard_dashboard answers every request here, so that none comes to %s; "+
				"give it a path, such as robots_guard_dashboard /robots-guard", d.Site(), d.Hides)
		case d.only != "":
			return fmt.Errorf("%s: only %s itself comes to robots_guard_dashboard, and not the files below it; write %s* there",
				d.Site(), d.only, strings.TrimSuffix(d.only, "/"))
		}
	}
	return nil
}

// exactPath returns one of the paths for which a matcher of paths is if it is for
// nothing below them, "" otherwise.
func exactPath(config json.RawMessage) string {
	var paths []string
	if err := json.Unmarshal(config, &paths); err != nil || len(paths) == 0 || bytes.ContainsRune(config, '*') {
		return ""
	}
	return paths[0]
}

// warnDashboards tells of dashboards that everybody can open.
func warnDashboards(server *caddyhttp.Server, placed []*Placed, logger *zap.Logger) {
	for _, d := range placed {
		if d.Name != Dashboard || !d.open || isLocal(server) || asksForCertificates(server) {
			continue
		}
		logger.Warn("everybody who reaches this server can open the dashboard, since no authentication stands before it; "+
			"put basic_auth before it, or write public behind robots_guard_dashboard if that is meant",
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
	if err := json.Unmarshal(p.Config, &d); err != nil || d.Public {
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

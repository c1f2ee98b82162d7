package placement

import (
	"encoding/json"
	"slices"
	"strings"
)

// Read is the robots.txt of a site that a guard reads there.
type Read struct {
	Server string
	Hosts  []string // none for any
	// By are the directives that the guard's request may come through, and that may
	// refuse it; there is one at least.
	By []string
}

// refusing are handlers that let only some requests pass: Caddy's own, and those of
// coraza-caddy, caddy-defender and caddy-crowdsec-bouncer.
var refusing = map[string]string{
	"authentication": "basic_auth", "waf": "coraza_waf", "defender": "defender", "crowdsec": "crowdsec", "appsec": "appsec",
}

// mayRefuse reports whether a handler may refuse a request for /robots.txt by who
// asks.
func (b *passed) mayRefuse() bool {
	return b.directive() != "" && !slices.ContainsFunc(b.matches, Match.leavesOut)
}

// directive returns the name of a handler that may refuse a request by who asks, as a
// Caddyfile has it, "" for any other.
func (b *passed) directive() string {
	if name, ok := refusing[b.name]; ok {
		return name
	}
	var h struct {
		StatusCode json.RawMessage `json:"status_code"`
		Rewrite    struct {
			Method string `json:"method"`
		} `json:"rewrite"`
	}
	if _ = json.Unmarshal(b.config, &h); b.name == "reverse_proxy" && b.asks && h.Rewrite.Method != "" {
		return "forward_auth" // which asks by a method of its own
	}
	status := strings.Trim(string(h.StatusCode), `"`)
	switch refuses := len(status) == 3 && status[0] == '4' && !b.isForAnybody(); {
	case refuses && b.name == "static_response":
		return "respond"
	case refuses && b.name == "error":
		return "error"
	}
	return ""
}

// reads returns what the guards of a server read there through handlers that may refuse
// it.
func (w *walk) reads() (all []Read) {
	for _, p := range w.found {
		if p.Name != Guard || !p.readsSite() {
			continue
		}
		r := Read{Server: w.server, Hosts: p.Hosts}
		for _, b := range w.refuse {
			if by := b.directive(); share(p.Hosts, b.hosts) && !slices.Contains(r.By, by) {
				r.By = append(r.By, by)
			}
		}
		same := func(other Read) bool { return slices.Equal(other.Hosts, r.Hosts) }
		if len(r.By) > 0 && !slices.ContainsFunc(all, same) {
			all = append(all, r)
		}
	}
	return all
}

// readsSite reports whether a guard reads the robots.txt from the site that it stands in.
func (p *Placed) readsSite() bool {
	var g struct {
		Source json.RawMessage `json:"source"`
		Decide json.RawMessage `json:"decide"`
	}
	return json.Unmarshal(p.Config, &g) == nil && g.Source == nil && g.Decide == nil
}

// share reports whether two lists of hosts, none for any, have one in common.
func share(a, b []string) bool {
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(host string) bool { return slices.Contains(b, host) })
}

// ProbeHosts returns a host for each of those of routes, none for any, that a request
// of our own can be for.
func ProbeHosts(hosts []string) []string {
	const some = "robots-guard-check"
	if len(hosts) == 0 {
		return []string{some + ".invalid"} // RFC 6761: nobody's
	}
	names := make([]string, len(hosts))
	for i, host := range hosts {
		names[i] = strings.ReplaceAll(host, "*", some)
	}
	return names
}

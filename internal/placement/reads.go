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
	// ByAddress says that one of these may go by where a request comes from.
	ByAddress bool
	Proxied   bool // the server trusts proxies
}

// refusing are handlers that let only some requests pass: Caddy's own, and those of
// coraza-caddy, caddy-defender and caddy-crowdsec-bouncer.
var refusing = map[string]string{
	"authentication": "basic_auth", "waf": "coraza_waf", "defender": "defender", "crowdsec": "crowdsec", "appsec": "appsec",
}

// directive returns the name of a handler that may refuse a request by who asks, as a
// Caddyfile has it, "" for any other.
func (b *passed) directive() string {
	switch b.name {
	case "reverse_proxy", "static_response", "error": // if they are told to
	default:
		return refusing[b.name]
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

// mostReads is how many texts of a server are told at most.
const mostReads = 100

// reads returns what the guards of a server read there through handlers that may refuse
// it, for the hosts that come to both.
func (w *walk) reads() (all []Read) {
	for _, p := range w.found {
		if p.Name != Guard || !p.readsSite() {
			continue
		}
		for _, b := range w.refuse {
			hosts, ok := b.hostsWith(p)
			if !ok {
				continue
			}
			i := slices.IndexFunc(all, func(r Read) bool { return slices.Equal(r.Hosts, hosts) })
			if i < 0 && len(all) == mostReads {
				continue
			}
			if i < 0 {
				i, all = len(all), append(all, Read{Server: w.server, Hosts: hosts})
			}
			r := &all[i]
			if r.ByAddress = r.ByAddress || !b.asksForLogin(); !slices.Contains(r.By, b.refuses) {
				r.By = append(r.By, b.refuses)
			}
		}
		if len(all) == mostReads {
			break
		}
	}
	return all
}

// asksForLogin reports whether a handler that may refuse a request does so by a login
// alone, wherever it comes from.
func (b *passed) asksForLogin() bool {
	return (b.refuses == "basic_auth" || b.refuses == "forward_auth") && b.isForAnybody()
}

// proxied returns those of the reads at a server that trusts proxies of which the answer
// can be asked for: the guard asks from the address of the proxy that a client comes
// through, which nobody knows yet.
func proxied(reads []Read) (all []Read) {
	for _, r := range reads {
		if !slices.ContainsFunc(reads, func(o Read) bool { return o.ByAddress && share(o.Hosts, r.Hosts) }) {
			r.Proxied = true
			all = append(all, r)
		}
	}
	return all
}

// hostsWith returns the hosts whose requests may come both to a handler and to a guard.
func (b *passed) hostsWith(p *Placed) (hosts []string, ok bool) {
	if len(p.Hosts) == 0 || b.reach != p.reach && within(b.reach, p.reach) && len(b.hosts) > 0 {
		return b.hosts, true // some of those of the guard
	}
	return p.Hosts, share(p.Hosts, b.hosts) || within(p.reach, b.reach)
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

package robotstxt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/caddymodule/robotstxt/rules"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Rule describes access to pages, or their use, for some crawlers.
type Rule = rules.Rule

// spec returns the spec of the configuration, without lists.
func (h *Handler) spec() managed.Spec {
	spec := managed.Spec{Rules: h.Rules, Sitemaps: h.Sitemaps, Lines: h.Lines}
	if h.Staging {
		if spec.Staging = h.StagingHosts; len(spec.Staging) == 0 {
			spec.Staging = []string{managed.AllHosts}
		}
	}
	return spec
}

// knownRegistry returns the registry of the configuration, or the default registry.
func (h *Handler) knownRegistry() *uaident.Registry {
	if h.registry == nil {
		return uaident.Default()
	}
	return h.registry
}

// noPath returns an error if a path is among the names of crawlers.
func noPath(names []string) error {
	if i := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, "/") }); i >= 0 {
		return fmt.Errorf("%q is a path; write paths into a block after the crawlers, one per line", names[i])
	}
	return nil
}

// hasHost returns a function that reports whether hosts match a host or a wildcard. No hosts match
// any host.
func hasHost(hosts []string) func(host string) bool {
	if len(hosts) == 0 {
		return func(string) bool { return true }
	}
	of := site.HostsOfServer(nil)
	of.Add(hosts)
	above := make(map[string]bool, len(hosts)) // each host without its first label
	for _, host := range hosts {
		_, rest, _ := strings.Cut(site.NormalHost(host, false), ".")
		above[rest] = true
	}
	return func(host string) bool {
		if rest, wildcard := strings.CutPrefix(host, "*."); wildcard && above[site.NormalHost(rest, false)] {
			return true
		}
		return of.Has(site.NormalHost(host, false))
	}
}

// checkHosts returns an error if a rule has a host outside the site.
func (h *Handler) checkHosts(hosts []string) error {
	has := hasHost(hosts)
	for i := range h.Rules {
		for _, host := range h.Rules[i].Hosts {
			if !has(host) {
				err := fmt.Errorf("%s: this site has no host %q; %s", h.Rules[i].Name(), host, hintOf(host, hosts))
				return option.WithLine(h.Rules[i].At, err)
			}
		}
	}
	return nil
}

// key identifies the configuration of a handler.
func (h *Handler) key() string {
	same := *h
	same.Rules, same.Positions = slices.Clone(h.Rules), nil
	for i := range same.Rules {
		same.Rules[i].At = ""
	}
	text, err := json.Marshal(&same)
	if err != nil {
		return "" // matches any host
	}
	return string(text)
}

// nameOf returns the key of a handler's configuration in a route.
func nameOf(config json.RawMessage) string {
	var h Handler
	if err := json.Unmarshal(config, &h); err != nil {
		return ""
	}
	h.setDefaults()
	return h.key()
}

// hintOf suggests hosts for an unknown host.
func hintOf(word string, hosts []string) string {
	if near := nearHost(word, hosts); near != "" {
		return near
	}
	if len(hosts) > 5 {
		return fmt.Sprintf("it has %s and %d more", strings.Join(hosts[:5], ", "), len(hosts)-5)
	}
	return "it has " + strings.Join(hosts, ", ")
}

// nearHost suggests a host with a similar name, or returns "".
func nearHost(word string, hosts []string) string {
	if near := text.Nearest(word, hosts); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}

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

// Rule allows or disallows paths to some crawlers, or says how fetched pages may be used.
type Rule = rules.Rule

// specWithoutLists returns the spec of the configuration, without the rules of lists.
func (h *Handler) specWithoutLists() managed.Spec {
	spec := managed.Spec{Rules: h.Rules, Sitemaps: h.Sitemaps, ExtraLines: h.ExtraLines}
	if h.Staging {
		if spec.StagingHosts = h.StagingHosts; len(spec.StagingHosts) == 0 {
			spec.StagingHosts = []string{managed.AllHosts}
		}
	}
	return spec
}

// registryOrDefault returns the registry of the configuration, or else the built-in registry.
func (h *Handler) registryOrDefault() *uaident.Registry {
	if h.registry == nil {
		return uaident.Default()
	}
	return h.registry
}

// checkNoPath returns an error if one of the names of crawlers is a path.
func checkNoPath(names []string) error {
	if i := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, "/") }); i >= 0 {
		return fmt.Errorf("%q is a path; write paths into a block after the crawlers, one per line", names[i])
	}
	return nil
}

// hostMatcher returns a function that reports whether hosts include a host, or a host that matches
// a wildcard. No hosts include any host.
func hostMatcher(hosts []string) func(host string) bool {
	if len(hosts) == 0 {
		return func(string) bool { return true }
	}
	of := site.NewHosts(nil)
	of.AddNames(hosts)
	above := make(map[string]bool, len(hosts)) // This has each host without its first label.
	for _, host := range hosts {
		_, rest, _ := strings.Cut(site.NormalizeHost(host, false), ".")
		above[rest] = true
	}
	return func(host string) bool {
		if rest, wildcard := strings.CutPrefix(host, "*."); wildcard && above[site.NormalizeHost(rest, false)] {
			return true
		}
		return of.MatchesHost(site.NormalizeHost(host, false))
	}
}

// checkHosts returns an error if the site lacks one of the hosts of an option or a rule.
func checkHosts(name string, some, hosts []string) error {
	has := hostMatcher(hosts)
	for _, host := range some {
		if !has(host) {
			return fmt.Errorf("%s: this site has no host %q; %s", name, host, suggestHosts(host, hosts))
		}
	}
	return nil
}

// checkRuleHosts returns an error if a rule has a host that the site lacks.
func (h *Handler) checkRuleHosts(hosts []string) error {
	for i := range h.Rules {
		if err := checkHosts(h.Rules[i].Name(), h.Rules[i].Hosts, hosts); err != nil {
			return option.AddCaddyfileLine(h.Rules[i].At, err)
		}
	}
	return nil
}

// configKey returns a string that identifies the configuration of the handler: its JSON without
// positions.
func (h *Handler) configKey() string {
	same := *h
	same.Rules, same.Positions = slices.Clone(h.Rules), nil
	for i := range same.Rules {
		same.Rules[i].At = ""
	}
	text, err := json.Marshal(&same)
	if err != nil {
		return "" // An empty key matches any host.
	}
	return string(text)
}

// parseConfigKey decodes the JSON of a handler, and returns its configKey.
func parseConfigKey(config json.RawMessage) string {
	var h Handler
	if err := json.Unmarshal(config, &h); err != nil {
		return ""
	}
	h.setDefaults()
	return h.configKey()
}

// suggestHosts returns a hint for a host that the site lacks: a host with a similar name, or the
// first hosts.
func suggestHosts(word string, hosts []string) string {
	if near := text.Nearest(word, hosts); near != "" {
		return "did you mean " + near + "?"
	}
	if len(hosts) > 5 {
		return fmt.Sprintf("it has %s and %d more", strings.Join(hosts[:5], ", "), len(hosts)-5)
	}
	return "it has " + strings.Join(hosts, ", ")
}

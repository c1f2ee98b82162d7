package caddymodule

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// configuredGuard is a robots_guard handler in a configuration, with the hosts
// of the routes around it.
type configuredGuard struct {
	hosts   []string // none for any
	handler Handler
	matched bool // whether other matchers than hosts stand before it
}

// site names the guard's site for a message.
func (c *configuredGuard) site() string { return strings.Join(c.hosts, ", ") }

// loadGuards reads the guards of a configuration file and the registry with its
// changes; adapter may be empty.
func loadGuards(path, adapter string) ([]configuredGuard, *uaident.Registry, error) {
	config, _, _, err := caddycmd.LoadConfig(path, adapter)
	if err != nil {
		return nil, nil, err
	}
	var parsed struct {
		Apps struct {
			HTTP struct {
				Servers map[string]struct {
					Routes []configuredRoute `json:"routes"`
				} `json:"servers"`
			} `json:"http"`
			Guard struct {
				Crawlers []Crawler `json:"crawlers"`
			} `json:"robots_guard"`
		} `json:"apps"`
	}
	if err := json.Unmarshal(config, &parsed); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	var found []configuredGuard
	names := make([]string, 0, len(parsed.Apps.HTTP.Servers))
	for name := range parsed.Apps.HTTP.Servers {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, route := range parsed.Apps.HTTP.Servers[name].Routes {
			if found, err = route.collect(found, nil, false); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	if len(found) == 0 {
		return nil, nil, fmt.Errorf("%s: no site has the directive robots_guard; add it, or leave out --config", path)
	}
	registry, err := registryWith(parsed.Apps.Guard.Crawlers)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return found, registry, nil
}

// configuredRoute is a route of Caddy's HTTP app, and a subroute.
type configuredRoute struct {
	Match  []map[string]json.RawMessage `json:"match"`
	Handle []json.RawMessage            `json:"handle"`
}

// collect appends the guards in the route.
func (r *configuredRoute) collect(found []configuredGuard, hosts []string, matched bool) ([]configuredGuard, error) {
	var own []string
	for _, set := range r.Match {
		for name, raw := range set {
			if name != "host" {
				matched = true
				continue
			}
			var names []string
			if err := json.Unmarshal(raw, &names); err != nil {
				return nil, err
			}
			own = append(own, names...)
		}
	}
	if len(own) > 0 {
		hosts = own
	}
	for _, raw := range r.Handle {
		var handler struct {
			Handler string            `json:"handler"`
			Routes  []configuredRoute `json:"routes"`
		}
		if err := json.Unmarshal(raw, &handler); err != nil {
			return nil, err
		}
		if handler.Handler == "robots_guard" {
			g := configuredGuard{hosts: hosts, matched: matched}
			if err := json.Unmarshal(raw, &g.handler); err != nil {
				return nil, fmt.Errorf("robots_guard: %w", err)
			}
			g.handler.setDefaults()
			found = append(found, g)
		}
		for i := range handler.Routes {
			var err error
			if found, err = handler.Routes[i].collect(found, hosts, matched); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// guardFor returns the guard of the site that a URL is of, the only one if the
// URL names no site.
func guardFor(guards []configuredGuard, rawURL string) (*configuredGuard, error) {
	host := hostOf(rawURL)
	var any *configuredGuard
	for i := range guards {
		g := &guards[i]
		if len(g.hosts) == 0 {
			any = g
			continue
		}
		if host != "" && namesHost(g.hosts, host) {
			return g, nil
		}
	}
	switch {
	case any != nil && host != "":
		return any, nil
	case host == "" && len(guards) == 1:
		return &guards[0], nil
	}
	var sites []string
	for i := range guards {
		if s := guards[i].site(); s != "" {
			sites = append(sites, s)
		}
	}
	if host == "" {
		return nil, errors.New("several sites use robots_guard; give the whole URL to choose one of " + strings.Join(sites, ", "))
	}
	return nil, fmt.Errorf("no robots_guard is for %s; there are sites for %s", host, strings.Join(sites, ", "))
}

// hostOf returns the host of a URL without its port, "" for a path.
func hostOf(rawURL string) string {
	host, _ := cutPort(normalHost(urlAuthority(rawURL), true))
	return host
}

// urlAuthority returns the host and port of a URL as they stand there, "" for a
// path.
func urlAuthority(rawURL string) string {
	_, rest, _ := strings.Cut(rawURL, "://")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	return rest
}

// namesHost reports whether a host matcher of these names matches a host.
func namesHost(names []string, host string) bool {
	h := hostsOf(nil)
	h.add(names)
	label, _ := h.label(host)
	return label != otherLabel
}

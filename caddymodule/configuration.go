package caddymodule

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	"github.com/robotsguard/caddy-robots-guard/internal/command"
	"github.com/robotsguard/caddy-robots-guard/internal/identity"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// configuredSites reads the sites with a robots_guard of a configuration file and
// the registry with its changes; adapter may be empty.
func configuredSites(path, adapter string) ([]command.Site, *uaident.Registry, error) {
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
	sites := make([]command.Site, len(found))
	for i, guard := range found {
		sites[i] = guard.site(registry)
	}
	return sites, registry, nil
}

// configuredGuard is a robots_guard handler in a configuration, with the hosts
// of the routes around it.
type configuredGuard struct {
	hosts   []string // none for any
	handler Handler
	matched bool // whether other matchers than hosts stand before it
}

// site returns what the commands have to know of the guard.
func (c *configuredGuard) site(registry *uaident.Registry) command.Site {
	s := command.Site{Hosts: c.hosts, Matched: c.matched, Grace: time.Duration(c.handler.Grace)}
	s.Settings, s.Err = c.handler.settings(registry)
	if source := c.handler.Source; source != nil {
		s.Source = source.URL + source.File // one of the two
	}
	return s
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

// configuredVerification returns how claims are verified by a configuration file,
// as by "verify on" for "".
func configuredVerification(file string) (*command.Verification, error) {
	app := &App{Verify: new(Verify)}
	var err error
	if file != "" {
		if app, err = appIn(file); err != nil {
			return nil, err
		}
	}
	if app.registry, err = registryWith(app.Crawlers); err != nil {
		return nil, err
	}
	agents, err := identity.AgentsOf(app.registry)
	if err != nil {
		return nil, err
	}
	return &command.Verification{
		Registry: app.registry, On: app.Verify != nil, Signatures: app.Verify != nil && app.Verify.WebBotAuth, Agents: agents, Verifier: app.config(),
	}, nil
}

// appIn returns the app in a configuration file, one with the defaults if it
// has none.
func appIn(name string) (*App, error) {
	body, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	if !strings.HasSuffix(name, ".json") {
		adapter := caddyconfig.GetAdapter("caddyfile")
		if adapter == nil {
			return nil, errors.New("--config: this program cannot read Caddyfiles")
		}
		if body, _, err = adapter.Adapt(body, map[string]any{"filename": name}); err != nil {
			return nil, fmt.Errorf("--config %s: %w", name, err)
		}
	}
	var config struct {
		Apps struct {
			App *App `json:"robots_guard"`
		} `json:"apps"`
	}
	if err := json.Unmarshal(body, &config); err != nil {
		return nil, fmt.Errorf("--config %s: %w", name, err)
	}
	if config.Apps.App == nil {
		return new(App), nil
	}
	return config.Apps.App, config.Apps.App.Validate()
}

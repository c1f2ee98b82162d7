package caddymodule

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	"github.com/robotsguard/caddy-robots-guard/internal/command"
	"github.com/robotsguard/caddy-robots-guard/internal/handlerorder"
	"github.com/robotsguard/caddy-robots-guard/internal/identity"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func init() {
	caddycmd.RegisterCommand(command.New(command.Config{
		FetchTimeout: defaultFetchTimeout,
		Sites:        readSites,
		Verification: readVerification,
		CheckManaged: checkManagedConfigs,
	}))
}

// readSites returns the sites with a robots_guard in a configuration file, and the registry that
// the file configures. adapter is the name of the config adapter, or "".
func readSites(path, adapter string) ([]command.Site, *uaident.Registry, error) {
	handlers, registry, err := findHandlers(path, adapter)
	if err != nil {
		return nil, nil, err
	}
	var sites []command.Site
	for _, p := range handlers {
		if p.Name != handlerorder.Guard {
			continue
		}
		site, err := newCommandSite(p, registry)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: robots_guard: %w", path, err)
		}
		sites = append(sites, site)
	}
	if len(sites) == 0 {
		return nil, nil, fmt.Errorf("%s: no site has the directive robots_guard; add the directive, or leave out --config", path)
	}
	return sites, registry, nil
}

// checkManagedConfigs lints the files that each robots_txt in a configuration file makes. A base
// that is not nil replaces the configured bases.
func checkManagedConfigs(path, adapter string, base []byte) (checks []command.ManagedCheck, err error) {
	placed, registry, err := findHandlers(path, adapter)
	if err != nil {
		return nil, err
	}
	for _, p := range placed {
		if p.Name != handlerorder.RobotsTXT {
			continue
		}
		module, err := caddy.GetModule("http.handlers." + p.Name)
		if err != nil {
			return nil, err
		}
		handler, ok := module.New().(interface {
			CheckRules(registry *uaident.Registry, hosts []string, base []byte) (managed.CheckReport, managed.Gate, error)
		})
		if !ok {
			return nil, fmt.Errorf("this program has an incompatible version of %s", p.Name)
		}
		check := command.ManagedCheck{Hosts: append([]string{}, p.Hosts...)}
		var gate managed.Gate
		if err = json.Unmarshal(p.Config, handler); err == nil {
			check.CheckReport, gate, err = handler.CheckRules(registry, p.Hosts, base)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %s: robots_txt: %w", path, p.SiteName(), err)
		}
		check.Findings = append([]managed.Finding{}, check.Findings...)
		check.HasErrors = gate.FindBlocker(check.Findings) != nil
		checks = append(checks, check)
	}
	if len(checks) == 0 {
		return nil, fmt.Errorf("%s: no site has the directive robots_txt", path)
	}
	return checks, nil
}

// readConfiguration returns the app and the handlers of this module in a configuration file.
// Without the global option, it returns an app with the defaults.
func readConfiguration(path, adapter string) (app *App, handlers []*handlerorder.PlacedHandler, err error) {
	config, _, _, err := caddycmd.LoadConfig(path, adapter)
	if err != nil {
		return nil, nil, err
	}
	app = new(App)
	var parsed struct {
		Apps struct {
			HTTP struct {
				Servers map[string]handlerorder.Server `json:"servers"`
			} `json:"http"`
			Guard *App `json:"robots_guard"`
		} `json:"apps"`
	}
	parsed.Apps.Guard = app
	if err := json.Unmarshal(config, &parsed); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, name := range slices.Sorted(maps.Keys(parsed.Apps.HTTP.Servers)) {
		placed, err := parsed.Apps.HTTP.Servers[name].PlacedHandlers(name)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		handlers = append(handlers, placed...)
	}
	return app, handlers, nil
}

// findHandlers returns the handlers of this module in a configuration file, and the registry that
// the file configures.
func findHandlers(path, adapter string) ([]*handlerorder.PlacedHandler, *uaident.Registry, error) {
	app, handlers, err := readConfiguration(path, adapter)
	if err != nil {
		return nil, nil, err
	}
	registry, err := app.RegistrySource.Resolve(app.Crawlers, false)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return handlers, registry, nil
}

// newCommandSite returns the settings of a robots_guard for the commands.
func newCommandSite(p *handlerorder.PlacedHandler, registry *uaident.Registry) (s command.Site, err error) {
	var h Handler
	if err := json.Unmarshal(p.Config, &h); err != nil {
		return s, err
	}
	h.setDefaults()
	s = command.Site{Hosts: p.Hosts, Listen: p.Listen, IsRedirectTarget: p.HasHTTPSRedirect, HasMatchers: len(p.Matchers) > 0, Grace: time.Duration(h.Grace)}
	if s.Settings, s.Err = h.settings(registry); s.Err == nil {
		s.Rate, s.Err = h.Rate.Settings(registry)
	}
	if source := h.Source; source != nil {
		s.Source = source.URL + source.File // Either URL or File is empty.
	}
	return s, nil
}

// readVerification returns how a configuration file verifies the identity of crawlers. "" as the
// file means the defaults of "verify on".
func readVerification(file string) (v *command.Verification, err error) {
	app := &App{Verify: new(Verify)}
	if file != "" {
		adapter := "caddyfile"
		if strings.HasSuffix(file, ".json") {
			adapter = ""
		}
		if app, _, err = readConfiguration(file, adapter); err == nil {
			err = app.Validate()
		}
		if err != nil {
			return nil, err
		}
	}
	registry, err := app.RegistrySource.Resolve(app.Crawlers, false)
	if err != nil {
		return nil, err
	}
	agents, err := identity.SigningAgents(registry)
	if err != nil {
		return nil, err
	}
	return &command.Verification{
		Registry: registry, Enabled: app.Verify != nil, Signatures: app.Verify != nil && app.Verify.WebBotAuth, SigningAgents: agents, Verifier: app.verifierConfig(registry),
	}, nil
}

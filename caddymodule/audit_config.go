package caddymodule

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/replay"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// configure takes over the settings of the guard in the configuration file, if
// one is given, and returns what the report has to say of it.
func (a *audit) configure(o *replay.Options) (notes []string, err error) {
	if a.config == "" {
		return nil, nil
	}
	guards, registry, err := loadGuards(a.config, a.adapter)
	if err != nil {
		return nil, err
	}
	configured, err := auditedGuard(guards, o.Sites)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.config, err)
	}
	g, err := newOfflineGuard(&configured.handler, registry)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.config, err)
	}
	o.Registry, o.KeepSlashes, o.Settings = registry, g.keepSlashes, g.settings()
	if source := configured.handler.Source; a.robots == "" && source != nil {
		a.robots = source.URL + source.File // one of the two
	}
	if len(o.Sites) == 0 && !slices.ContainsFunc(configured.hosts, func(host string) bool { return strings.ContainsAny(host, "*{") }) {
		o.Sites = slices.Clone(configured.hosts)
	}
	if configured.matched {
		notes = append(notes, "Matchers beside the host stand before robots_guard in "+a.config+"; all requests were judged as if those let them through.")
	}
	return notes, nil
}

// auditedGuard returns the guard of the sites, the only one if none is named.
func auditedGuard(guards []configuredGuard, sites []string) (*configuredGuard, error) {
	if len(sites) == 0 {
		if len(guards) > 1 {
			return nil, errors.New("several sites use robots_guard; choose one with --site")
		}
		return &guards[0], nil
	}
	var chosen *configuredGuard
	for _, site := range sites {
		if !isURL(site) {
			site = "https://" + site
		}
		g, err := guardFor(guards, site)
		if err != nil {
			return nil, err
		}
		if chosen != nil && g != chosen {
			return nil, errors.New("the sites have different settings; audit one after the other")
		}
		chosen = g
	}
	return chosen, nil
}

// settings are what the guard's options say of clients whose names are not
// verified.
func (g *guard) settings() *replay.Settings {
	claimed := func(id uaident.Identity) *judgement { return &judgement{client: id, identity: identityClaimed} }
	return &replay.Settings{
		Wildcard: g.judgedByWildcard,
		Exempt:   func(id uaident.Identity) bool { return g.exempt.has(claimed(id)) },
		Spares:   func(id uaident.Identity) bool { return g.spares(claimed(id)) },
		Grace:    g.grace,
	}
}

package placement

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// Text is a robots_txt with where it stands.
type Text struct {
	Name   string // of its configuration
	Server string
	Hosts  []string // none for any
	// Chooses says that it is for some requests only, by more than host and path.
	Chooses bool
	Guarded bool   // every request has come through a guard before
	Cached  string // a cache before it that may answer for it, "" for none
	Untried string // why no guard judges a change beside what is published, "" if one does
}

// Site names whose requests come to it.
func (t *Text) Site() string { return (&Placed{Server: t.Server, Hosts: t.Hosts}).Site() }

// Texts are those of an HTTP app.
type Texts []Text

// TextsOf returns the robots_txt handlers in the HTTP app that ctx, of the first of
// them, belongs to. name names a configuration.
func TextsOf(ctx caddy.Context, name func(config json.RawMessage) string) (all Texts, err error) {
	all = Texts{}
	var guards []*Placed
	for _, module := range ctx.Modules() {
		app, ok := module.(*caddyhttp.App)
		if !ok {
			continue
		}
		for _, server := range slices.Sorted(maps.Keys(app.Servers)) {
			placed, err := In(server, routesOf(app.Servers[server].Routes))
			if err != nil {
				return nil, err
			}
			for _, p := range placed {
				if p.Name == Guard {
					guards = append(guards, p)
				}
				if p.Name == RobotsTXT {
					chooses := slices.ContainsFunc(p.Matches, func(m Match) bool { return !m.isOfPaths() })
					all = append(all, Text{Name: name(p.Config), Server: server, Hosts: p.Hosts, Chooses: chooses, Guarded: p.Guarded, Cached: p.Cached})
				}
			}
		}
	}
	if len(all) == 0 {
		return all, nil
	}
	trials := trialsOf(guards)
	for i := range all {
		all[i].Untried = trials.whyUntried(all[i].Hosts)
	}
	return all, nil
}

// Of returns those with a name.
func (all Texts) Of(name string) Texts {
	return slices.DeleteFunc(slices.Clone(all), func(t Text) bool { return t.Name != name })
}

// HostsOf returns the hosts of those with a name, which may stand in a snippet of
// several sites; none for any host.
func (all Texts) HostsOf(name string) (hosts []string) {
	for _, t := range all {
		if t.Name != name {
			continue
		}
		if len(t.Hosts) == 0 {
			return nil
		}
		hosts = append(hosts, t.Hosts...)
	}
	return hosts
}

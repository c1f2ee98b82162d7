package placement

import (
	"encoding/json"
	"slices"

	"github.com/caddyserver/caddy/v2"
)

// Text is a robots_txt with its place.
type Text struct {
	Name    string // of its configuration
	Server  string
	Hosts   []string // none for any
	Untried string   // why no guard judges a change before it is published, "" if one does
}

// Site names the site of a robots_txt, for messages.
func (t *Text) Site() string { return siteName(t.Server, t.Hosts) }

// Texts are those of an HTTP app.
type Texts []Text

// TextsOf returns the robots_txt handlers in the HTTP app that ctx, of the first of
// them, belongs to. name names a configuration.
func TextsOf(ctx caddy.Context, name func(config json.RawMessage) string) (all Texts, err error) {
	all = Texts{}
	var guards []*Placed
	for serverName, server := range servers(ctx) {
		placed, err := In(serverName, routesOf(server.Routes))
		if err != nil {
			return nil, err
		}
		for _, p := range placed {
			switch p.Name {
			case Guard:
				guards = append(guards, p)
			case RobotsTXT:
				all = append(all, Text{Name: name(p.Config), Server: serverName, Hosts: p.Hosts})
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

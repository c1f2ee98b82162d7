package placement

import (
	"encoding/json"
	"slices"

	"github.com/caddyserver/caddy/v2"
)

// Text is a robots_txt handler with its position.
type Text struct {
	Name    string // of its configuration
	Server  string
	Hosts   []string // empty for any host
	Untried string   // why no guard can judge a trial of a change, or empty if a guard can
}

// Site returns the name of the handler's site for messages.
func (t *Text) Site() string { return siteName(t.Server, t.Hosts) }

// Texts are the robots_txt handlers of an HTTP app.
type Texts []Text

// TextsOf returns the robots_txt handlers in the HTTP app. ctx belongs to the first of them. name
// returns the name of a configuration.
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

// Of returns the handlers with a name.
func (all Texts) Of(name string) Texts {
	return slices.DeleteFunc(slices.Clone(all), func(t Text) bool { return t.Name != name })
}

// HostsOf returns the hosts of the handlers with a name. A snippet may put one name into several
// sites. An empty list means any host.
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

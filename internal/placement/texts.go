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
}

// Texts are those of an HTTP app.
type Texts []Text

// TextsOf returns the robots_txt handlers in the HTTP app that ctx, of the first of
// them, belongs to. name names a configuration.
func TextsOf(ctx caddy.Context, name func(config json.RawMessage) string) (all Texts, err error) {
	all = Texts{}
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
				if p.Name == RobotsTXT {
					all = append(all, Text{name(p.Config), server, p.Hosts, slices.ContainsFunc(p.Matches, func(m Match) bool { return m.Name != "path" })})
				}
			}
		}
	}
	return all, nil
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

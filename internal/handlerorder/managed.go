package handlerorder

import (
	"encoding/json"
	"slices"

	"github.com/caddyserver/caddy/v2"
)

// ManagedHandler is a robots_txt handler with its position.
type ManagedHandler struct {
	Name          string // of its configuration
	Server        string
	Hosts         []string // empty for any host
	TrialObstacle string   // why no guard can judge a trial of a change, or empty if a guard can
}

// Site returns the name of the handler's site for messages.
func (t *ManagedHandler) Site() string { return siteName(t.Server, t.Hosts) }

// ManagedHandlers are the robots_txt handlers of an HTTP app.
type ManagedHandlers []ManagedHandler

// FindManagedHandlers returns the robots_txt handlers in the HTTP app. ctx belongs to the first of them. name
// returns the name of a configuration.
func FindManagedHandlers(ctx caddy.Context, name func(config json.RawMessage) string) (managed ManagedHandlers, err error) {
	managed = ManagedHandlers{}
	var guards []*PlacedHandler
	for serverName, server := range servers(ctx) {
		placed, err := FindHandlers(serverName, rawRoutes(server.Routes))
		if err != nil {
			return nil, err
		}
		for _, p := range placed {
			switch p.Name {
			case Guard:
				guards = append(guards, p)
			case RobotsTXT:
				managed = append(managed, ManagedHandler{Name: name(p.Config), Server: serverName, Hosts: p.Hosts})
			}
		}
	}
	if len(managed) == 0 {
		return managed, nil
	}
	trials := newTrialObstacles(guards)
	for i := range managed {
		managed[i].TrialObstacle = trials.obstacleAt(managed[i].Hosts)
	}
	return managed, nil
}

// WithName returns the handlers with a name.
func (all ManagedHandlers) WithName(name string) ManagedHandlers {
	return slices.DeleteFunc(slices.Clone(all), func(t ManagedHandler) bool { return t.Name != name })
}

// HostsOf returns the hosts of the handlers with a name. A snippet may put the same name into
// several sites. An empty list means any host.
func (all ManagedHandlers) HostsOf(name string) (hosts []string) {
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

package handlerorder

import (
	"encoding/json"
	"slices"

	"github.com/caddyserver/caddy/v2"
)

// RobotsTXTHandler is a robots_txt handler with its place in the configuration.
type RobotsTXTHandler struct {
	Name   string // Name is the name that the caller gave the configuration.
	Server string
	Hosts  []string // Hosts is empty for any host.
	// TrialObstacle is the reason why no guard can run a trial of a change. It is empty if a guard
	// can.
	TrialObstacle string
}

// SiteName returns the name of the handler's site for messages, for example "site example.com".
func (t *RobotsTXTHandler) SiteName() string { return siteName(t.Server, t.Hosts) }

// RobotsTXTHandlers are the robots_txt handlers of an HTTP app.
type RobotsTXTHandlers []RobotsTXTHandler

// FindRobotsTXTHandlers returns the robots_txt handlers in the HTTP app. ctx belongs to the first
// of them. name returns the name in a handler's configuration.
func FindRobotsTXTHandlers(ctx caddy.Context, name func(config json.RawMessage) string) (managed RobotsTXTHandlers, err error) {
	managed = RobotsTXTHandlers{}
	var guards []*PlacedHandler
	for serverName, server := range allServers(ctx) {
		placed, err := FindHandlers(serverName, routesAsJSON(server.Routes))
		if err != nil {
			return nil, err
		}
		for _, p := range placed {
			switch p.Name {
			case Guard:
				guards = append(guards, p)
			case RobotsTXT:
				managed = append(managed, RobotsTXTHandler{Name: name(p.Config), Server: serverName, Hosts: p.Hosts})
			}
		}
	}
	if len(managed) == 0 {
		return managed, nil
	}
	trials := newTrialObstacles(guards)
	for i := range managed {
		managed[i].TrialObstacle = trials.obstacleForHosts(managed[i].Hosts)
	}
	return managed, nil
}

// FilterByName returns those handlers that have the given name in their configuration.
func (all RobotsTXTHandlers) FilterByName(name string) RobotsTXTHandlers {
	return slices.DeleteFunc(slices.Clone(all), func(t RobotsTXTHandler) bool { return t.Name != name })
}

// HostsOfName returns the hosts of those handlers that have the given name. A snippet may put the
// same name into several sites. An empty list means any host.
func (all RobotsTXTHandlers) HostsOfName(name string) (hosts []string) {
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

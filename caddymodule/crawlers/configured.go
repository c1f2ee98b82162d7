package crawlers

import (
	"encoding/json"
	"errors"

	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// known is what a Caddyfile knows of crawlers.
type known struct{ registry, settled *uaident.Registry }

// Configured returns the registry with the changes of the global option, which stands before
// the sites. settled is nil where a registry has a say in it that others write: what that says
// of the class of a crawler may change, and must then keep no server from starting.
func Configured(helper httpcaddyfile.Helper) (registry, settled *uaident.Registry, err error) {
	const key = "robots_guard registry"
	if of, ok := helper.State[key].(known); ok {
		return of.registry, of.settled, nil
	}
	var app struct {
		Crawlers     []Crawler `json:"crawlers"`
		RegistryFrom *Registry `json:"registry"`
	}
	if global, ok := helper.Option("robots_guard").(httpcaddyfile.App); ok {
		if err := json.Unmarshal(global.Value, &app); err != nil {
			return nil, nil, err
		}
	}
	registry, err = app.RegistryFrom.Known(app.Crawlers, false)
	if _, ok := errors.AsType[*unreadableError](err); ok {
		registry, err = nil, nil // it is told when the configuration is loaded
	}
	if app.RegistryFrom == nil {
		settled = registry
	}
	if helper.State != nil {
		helper.State[key] = known{registry, settled}
	}
	return registry, settled, err
}

package caddymodule

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"encoding/json"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/internal/registry"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Registry says where a registry of crawlers is that is laid over the built-in one.
type Registry struct {
	// The file or the http or https URL. It is read again when it changes.
	From string `json:"from"`

	// How often it is looked whether it has changed. Default: as often as the server of a
	// URL says, from a minute to an hour; two seconds for a file.
	Interval caddy.Duration `json:"interval,omitempty"`

	// The place in the Caddyfile, such as `Caddyfile:12`, for error messages. The
	// Caddyfile adapter sets it if the file is missing or invalid.
	WrittenAt string `json:"at,omitempty"`
}

// Bounds of Registry.Interval.
const (
	minRegistryInterval = time.Second
	maxRegistryInterval = 7 * 24 * time.Hour
)

// registryLoadTime is how long a configuration that is being loaded waits for a URL. It is read
// again soon after that.
const registryLoadTime = 5 * time.Second

// UnmarshalCaddyfile reads the block of registry.
func (r *Registry) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	r.WrittenAt = option.LineOf(d)
	if err := option.ReadBlock(d, r.Options(), r.Validate, r.Validate); err != nil {
		return err
	}
	if _, err := r.Base(context.Background()); err == nil {
		r.WrittenAt = ""
	}
	return nil
}

// Options are what may stand in the block of registry.
func (r *Registry) Options() []option.Option {
	return []option.Option{
		{Name: "interval", Usage: "a duration such as 1h", Set: option.One(&r.Interval, option.Duration)},
	}
}

// Validate tells what is wrong with the words themselves. It reads nothing.
func (r *Registry) Validate() error {
	_, err := r.feed()
	return err
}

// feed returns the registry that r names, which is not read yet.
func (r *Registry) feed() (*registry.Feed, error) {
	s := registry.Settings{Place: r.From, Interval: time.Duration(r.Interval), Now: time.Now}
	if s.Interval != 0 && (s.Interval < minRegistryInterval || s.Interval > maxRegistryInterval) {
		return nil, fmt.Errorf("registry: interval %s cannot be; use 1s to 7d", option.Short(r.Interval))
	}
	return registry.New(s)
}

// Base returns the built-in registry with the file that r names laid over it. What others
// serve at a URL is not part of a configuration. r may be nil.
func (r *Registry) Base(ctx context.Context) (*uaident.Registry, error) {
	if r == nil {
		return uaident.Default(), nil
	}
	feed, err := r.feed()
	if err != nil || !feed.IsFile() {
		return uaident.Default(), err
	}
	feed.Load(ctx, r, nil)
	if err := feed.Trouble(); err != nil {
		return nil, &unreadableError{option.At(r.WrittenAt, err)}
	}
	return feed.Good().Over(uaident.Default())
}

// unreadableError says that the file of a registry cannot be used.
type unreadableError struct{ err error }

// Error implements error.
func (e *unreadableError) Error() string { return "registry: " + e.err.Error() }

// Unwrap returns what is wrong with the file.
func (e *unreadableError) Unwrap() error { return e.err }

// Known returns what a configuration knows of crawlers before it runs: the built-in
// registry, a file over it, and the changes of its crawler options. Where lenient, a file
// that cannot be used, which may be on another machine, is left out.
func (r *Registry) Known(changes []Crawler, lenient bool) (*uaident.Registry, error) {
	base, err := r.Base(context.Background())
	if wrong, ok := errors.AsType[*unreadableError](err); ok && wrong != nil && lenient {
		base, err = uaident.Default(), nil
	}
	if err != nil {
		return nil, err
	}
	return withCrawlers(base, changes)
}

// configuredRegistry is what a Caddyfile knows of crawlers.
type configuredRegistry struct{ registry, settled *uaident.Registry }

// ConfiguredRegistry returns the registry with the changes of the global option, which stands before
// the sites. settled is nil where a registry has a say in it that others write: what that says
// of the class of a crawler may change, and must then keep no server from starting.
func ConfiguredRegistry(helper httpcaddyfile.Helper) (registry, settled *uaident.Registry, err error) {
	const key = "robots_guard registry"
	if of, ok := helper.State[key].(configuredRegistry); ok {
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
		helper.State[key] = configuredRegistry{registry, settled}
	}
	return registry, settled, err
}

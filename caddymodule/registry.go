package caddymodule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/internal/registry"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Registry is the file or URL of a registry whose entries override the built-in registry.
type Registry struct {
	// The path of a file, or an http or https URL. Changes apply without a reload.
	From string `json:"from"`

	// The time between checks for changes, from `1s` to `7d`. Default: `2s` for a file. For a
	// URL the caching headers of its server decide, from a minute to an hour.
	Interval caddy.Duration `json:"interval,omitempty"`

	// The place in the Caddyfile, such as `Caddyfile:12`, for error messages. The Caddyfile adapter
	// sets the place if the file is missing or invalid.
	CaddyfileLine string `json:"at,omitempty"`
}

// These are bounds of Registry.Interval.
const (
	minRegistryInterval = time.Second
	maxRegistryInterval = 7 * 24 * time.Hour
)

// registryLoadTime is the maximum time for which the load of a configuration waits for a URL. After
// that time the registry is fetched in the background.
const registryLoadTime = 5 * time.Second

// UnmarshalCaddyfile parses the block of the option registry.
func (r *Registry) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	r.CaddyfileLine = option.CaddyfileLine(d)
	if err := option.ReadBlock(d, r.Options(), r.Validate, r.Validate); err != nil {
		return err
	}
	if _, err := r.ReadBase(context.Background()); err == nil {
		r.CaddyfileLine = ""
	}
	return nil
}

// Options returns the options in the block of registry.
func (r *Registry) Options() []option.Option {
	return []option.Option{
		{Name: "interval", Usage: "a duration, for example 1h", ParseArguments: option.ParseOneArgument(&r.Interval, option.ParseDuration)},
	}
}

// Validate checks the options without opening the file or URL.
func (r *Registry) Validate() error {
	_, err := r.newFeed()
	return err
}

// newFeed returns a feed of the file or URL. It reads nothing yet.
func (r *Registry) newFeed() (*registry.Feed, error) {
	s := registry.Settings{Location: r.From, Interval: time.Duration(r.Interval), Clock: time.Now}
	if s.Interval != 0 && (s.Interval < minRegistryInterval || s.Interval > maxRegistryInterval) {
		return nil, fmt.Errorf("registry: interval %s is out of range; use 1s to 7d", option.FormatDuration(r.Interval))
	}
	return registry.New(s)
}

// ReadBase returns the built-in registry with the crawlers of the registry file. A URL is not read,
// because its content is not part of the configuration. A nil *Registry means no file.
func (r *Registry) ReadBase(ctx context.Context) (*uaident.Registry, error) {
	if r == nil {
		return uaident.Default(), nil
	}
	feed, err := r.newFeed()
	if err != nil || !feed.IsFile() {
		return uaident.Default(), err
	}
	feed.Load(ctx, r, nil)
	if err := feed.LastError(); err != nil {
		return nil, &unreadableRegistryError{option.AddCaddyfileLine(r.CaddyfileLine, err)}
	}
	return feed.Content().Merge(uaident.Default())
}

// unreadableRegistryError is the error for a registry file that is missing or invalid.
type unreadableRegistryError struct{ err error }

// Error implements error.
func (e *unreadableRegistryError) Error() string { return "registry: " + e.err.Error() }

// Unwrap returns the error without the prefix.
func (e *unreadableRegistryError) Unwrap() error { return e.err }

// Resolve returns the registry that a configuration file describes: the built-in registry, with the
// crawlers of the registry file and then those of the option crawlers. If ignoreUnreadable is true,
// a missing or invalid file is left out, because the file may be on another machine.
func (r *Registry) Resolve(changes []Crawler, ignoreUnreadable bool) (*uaident.Registry, error) {
	base, err := r.ReadBase(context.Background())
	if unreadable, ok := errors.AsType[*unreadableRegistryError](err); ok && unreadable != nil && ignoreUnreadable {
		base, err = uaident.Default(), nil
	}
	if err != nil {
		return nil, err
	}
	return applyCrawlerChanges(base, changes)
}

// configuredRegistry caches the result of [ConfiguredRegistry] for a Caddyfile.
type configuredRegistry struct{ registry, fixedRegistry *uaident.Registry }

// ConfiguredRegistry returns the registry that the global options of a Caddyfile describe.
// fixedRegistry is the same registry, or nil if a registry file or URL can change classes later.
// Checks of classes need fixedRegistry, because a later change must not prevent a server from
// starting.
func ConfiguredRegistry(helper httpcaddyfile.Helper) (registry, fixedRegistry *uaident.Registry, err error) {
	const key = "robots_guard registry"
	if cached, ok := helper.State[key].(configuredRegistry); ok {
		return cached.registry, cached.fixedRegistry, nil
	}
	var app App
	if global, ok := helper.Option("robots_guard").(httpcaddyfile.App); ok {
		if err := json.Unmarshal(global.Value, &app); err != nil {
			return nil, nil, err
		}
	}
	registry, err = app.RegistrySource.Resolve(app.Crawlers, false)
	if _, ok := errors.AsType[*unreadableRegistryError](err); ok {
		registry, err = nil, nil // The load of the configuration reports the error.
	}
	if app.RegistrySource == nil {
		fixedRegistry = registry
	}
	if helper.State != nil {
		helper.State[key] = configuredRegistry{registry, fixedRegistry}
	}
	return registry, fixedRegistry, err
}

package caddymodule

import (
	"context"
	"fmt"
	"sync"
	"weak"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/internal/registry"
	"github.com/robotsguard/caddy-robots-guard/internal/remote"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// registryFeeds has the feeds of registry files and URLs while a configuration uses them. A feed
// and its pending changes survive a reload.
var registryFeeds = caddy.NewUsagePool()

// registryInUse is the registry of a running configuration. It is replaced when the configured file
// or URL changes.
type registryInUse struct {
	*uaident.CurrentRegistry

	feed    *registry.Feed // feed is nil without a registry file or URL.
	changes []Crawler
	logger  *zap.Logger

	mu      sync.Mutex
	version *registry.Version // version is the version of the feed in use.
	// lastConflict is the last logged error of a version that conflicts with the configuration.
	lastConflict string
	onChange     func(*uaident.Registry) error
}

// provisionRegistry returns the registry for a configuration, with the crawlers of r and then of
// changes. A missing or invalid file is an error, and an unreachable URL is not. r may be nil.
func provisionRegistry(ctx caddy.Context, r *Registry, changes []Crawler, logger *zap.Logger) (*registryInUse, error) {
	u := &registryInUse{changes: changes, logger: logger}
	if r != nil {
		if err := u.acquireFeed(ctx, r); err != nil {
			return nil, err
		}
		loadCtx, cancel := context.WithTimeoutCause(ctx, registryLoadTime, fmt.Errorf("no complete response within %v; the fetch is repeated", registryLoadTime))
		defer cancel()
		u.feed.Load(loadCtx, weak.Make(u), ctx.Storage())
		if err := u.feed.LastError(); err != nil && u.feed.IsFile() {
			return nil, &unreadableRegistryError{option.AddCaddyfileLine(r.CaddyfileLine, err)}
		}
		if u.version = u.feed.Content(); u.version != nil {
			combined, err := u.mergeVersion(u.version)
			if err == nil {
				err = registry.CheckUsable(combined)
			}
			if err == nil || u.feed.IsFile() {
				u.CurrentRegistry = uaident.NewCurrentRegistry(combined)
				return u, err
			}
			// Start applies the version again and logs the error.
			u.version = nil
		}
	}
	combined, err := applyCrawlerChanges(uaident.Default(), changes)
	u.CurrentRegistry = uaident.NewCurrentRegistry(combined)
	return u, err
}

// acquireFeed sets u.feed to the feed of r. All configurations share the feed. It is released when
// ctx ends.
func (u *registryInUse) acquireFeed(ctx caddy.Context, r *Registry) error {
	key := r.From + "\n" + fmt.Sprint(r.Interval)
	value, _, err := registryFeeds.LoadOrNew(key, func() (caddy.Destructor, error) {
		feed, err := r.newFeed()
		if err != nil {
			return nil, err
		}
		return remote.StartBackground(feed), nil
	})
	if err != nil {
		return err
	}
	// The method Destruct of a BackgroundRunner returns no error.
	context.AfterFunc(ctx, func() { _, _ = registryFeeds.Delete(key) })
	u.feed = value.(*remote.BackgroundRunner[*registry.Feed]).Runner
	return nil
}

// mergeVersion returns the built-in registry with the crawlers of a version of the feed and the
// changes of the configuration. version may be nil.
func (u *registryInUse) mergeVersion(version *registry.Version) (combined *uaident.Registry, err error) {
	base := uaident.Default()
	if version != nil {
		if base, err = version.Merge(base); err != nil {
			return nil, err
		}
	}
	return applyCrawlerChanges(base, u.changes)
}

// Start replaces the registry after each change of the file or URL, until stop is called. It first
// calls onChange, which can refuse the new registry. sendEvent emits events about the feed.
func (u *registryInUse) Start(storage remote.Storage, onChange func(*uaident.Registry) error, sendEvent func(name string, data map[string]any)) (stop func()) {
	if u.feed == nil {
		return func() {}
	}
	u.onChange = onChange
	release := u.feed.AddUser(&registry.FeedUser{OnChange: u.applyVersion, Logger: u.logger, SendEvent: sendEvent, Storage: storage})
	return func() {
		release()
		u.mu.Lock()
		defer u.mu.Unlock()
		u.onChange = nil // This ignores a later change.
	}
}

// applyVersion replaces the registry if the feed has a new version.
func (u *registryInUse) applyVersion() {
	u.mu.Lock()
	defer u.mu.Unlock()
	version := u.feed.Content()
	if u.onChange == nil || version == u.version {
		return
	}
	combined, err := u.mergeVersion(version)
	if err == nil {
		err = u.onChange(combined)
	}
	switch {
	case err == nil:
		u.Replace(combined)
		u.version, u.lastConflict = version, ""
	case u.lastConflict != err.Error():
		u.lastConflict = err.Error()
		u.logger.Error("registry conflicts with the configuration; using the previous registry", zap.String("registry", u.feed.Name()), zap.Error(err))
	}
}

// Status returns the status of the registry file or URL, or nil if none is configured. u may be
// nil.
func (u *registryInUse) Status() *report.RegistryStatus {
	if u == nil || u.feed == nil {
		return nil
	}
	s := u.feed.Status()
	u.mu.Lock()
	defer u.mu.Unlock()
	if s.Failure == "" {
		s.Failure = u.lastConflict
	}
	return s
}

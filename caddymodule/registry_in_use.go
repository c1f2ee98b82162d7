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

// registryFeeds holds the registries at files and URLs, each for as long as a configuration names
// it, so that a reload does not forget what waits.
var registryFeeds = caddy.NewUsagePool()

// registryInUse is what a running configuration knows of crawlers. It changes with the registry
// that the configuration names.
type registryInUse struct {
	*uaident.Current

	feed    *registry.Feed // nil for none
	changes []Crawler
	logger  *zap.Logger

	mu    sync.Mutex
	has   *registry.Version // what Current was made of
	wrong string            // what the owner was told of one that does not go with the configuration
	adopt func(*uaident.Registry) error
}

// provisionRegistry reads the registry that r names, if it is not nil, and returns what is known
// with it and the changes. It fails for a file that cannot be used. What a URL answers
// never keeps a configuration from being loaded.
func provisionRegistry(ctx caddy.Context, r *Registry, changes []Crawler, logger *zap.Logger) (*registryInUse, error) {
	u := &registryInUse{changes: changes, logger: logger}
	if r != nil {
		if err := u.acquire(ctx, r); err != nil {
			return nil, err
		}
		load, cancel := context.WithTimeoutCause(ctx, registryLoadTime, fmt.Errorf("no complete answer within %v; it is read again", registryLoadTime))
		defer cancel()
		u.feed.Load(load, weak.Make(u), ctx.Storage())
		if err := u.feed.Trouble(); err != nil && u.feed.IsFile() {
			return nil, &unreadableError{option.At(r.WrittenAt, err)}
		}
		if u.has = u.feed.Good(); u.has != nil {
			known, err := u.with(u.has)
			if err == nil {
				err = registry.Usable(known)
			}
			if err == nil || u.feed.IsFile() {
				u.Current = uaident.NewCurrent(known)
				return u, err
			}
			// It is tried again, and told, when the configuration starts.
			u.has = nil
		}
	}
	known, err := withCrawlers(uaident.Default(), changes)
	u.Current = uaident.NewCurrent(known)
	return u, err
}

// acquire has the registry read until the configuration of ctx ends.
func (u *registryInUse) acquire(ctx caddy.Context, r *Registry) error {
	key := r.From + "\n" + fmt.Sprint(r.Interval)
	value, _, err := registryFeeds.LoadOrNew(key, func() (caddy.Destructor, error) {
		feed, err := r.feed()
		if err != nil {
			return nil, err
		}
		return remote.Begin(feed), nil
	})
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { _, _ = registryFeeds.Delete(key) }) // Destruct returns no error
	u.feed = value.(*remote.Running[*registry.Feed]).Runner
	return nil
}

// with returns what is known with a text, which may be nil.
func (u *registryInUse) with(t *registry.Version) (known *uaident.Registry, err error) {
	base := uaident.Default()
	if t != nil {
		if base, err = t.Over(base); err != nil {
			return nil, err
		}
	}
	return withCrawlers(base, u.changes)
}

// Start begins to take each new text into use until end is called. adopt is told of each
// registry before it is, and can refuse it. tell is told events.
func (u *registryInUse) Start(storage remote.Storage, adopt func(*uaident.Registry) error, tell func(name string, data map[string]any)) (end func()) {
	if u.feed == nil {
		return func() {}
	}
	u.adopt = adopt
	release := u.feed.Use(&registry.User{Changed: u.changed, Logger: u.logger, Tell: tell, Storage: storage})
	return func() {
		release()
		u.mu.Lock()
		defer u.mu.Unlock()
		u.adopt = nil // a change that is under way comes too late
	}
}

// changed takes the text that is in use now.
func (u *registryInUse) changed() {
	u.mu.Lock()
	defer u.mu.Unlock()
	t := u.feed.Good()
	if u.adopt == nil || t == u.has {
		return
	}
	known, err := u.with(t)
	if err == nil {
		err = u.adopt(known)
	}
	switch {
	case err == nil:
		u.Replace(known)
		u.has, u.wrong = t, ""
	case u.wrong != err.Error():
		u.wrong = err.Error()
		u.logger.Error("the registry does not go with the configuration; what was known before stays in force", zap.String("registry", u.feed.Name()), zap.Error(err))
	}
}

// Status returns how it stands with the registry that the configuration names, nil for
// none.
func (u *registryInUse) Status() *report.Registry {
	if u == nil || u.feed == nil {
		return nil
	}
	s := u.feed.Status()
	u.mu.Lock()
	defer u.mu.Unlock()
	if s.Failure == "" {
		s.Failure = u.wrong
	}
	return s
}

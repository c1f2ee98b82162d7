package caddymodule

import (
	"context"
	"encoding/json"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/handlerorder"
	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
)

// RunningPublishers returns the running robots_txt handlers of all configurations.
func (a *App) RunningPublishers() *publish.RunningPublishers { return &a.state.ManagedPublishers }

// registerMetrics registers the metrics with the configuration of ctx, once. A second registration
// fails slowly.
func (a *App) registerMetrics(ctx caddy.Context) (err error) {
	if !a.metricsRegistered {
		err = a.state.Metrics.Register(ctx.GetMetricsRegistry())
		a.metricsRegistered = err == nil
	}
	return err
}

// FindManagedHandlers returns [handlerorder.FindManagedHandlers] for all robots_txt handlers of a configuration. The
// first call computes the result.
func (a *App) FindManagedHandlers(ctx caddy.Context, name func(config json.RawMessage) string) (texts handlerorder.ManagedHandlers, err error) {
	if a.cachedManagedHandlers == nil {
		a.cachedManagedHandlers, err = handlerorder.FindManagedHandlers(ctx, name)
	}
	return a.cachedManagedHandlers, err
}

// ManagedStarter is a robots_txt handler that starts with the configuration.
type ManagedStarter interface {
	caddyhttp.MiddlewareHandler
	// Start starts to publish changes. It returns a function that stops publishing.
	Start(publish.HandlerPlace) (p *publish.Publisher, end func())
}

// AddManagedStarter adds a handler that starts with the configuration. Call AddManagedStarter in Provision.
func (a *App) AddManagedStarter(s ManagedStarter) { a.managedStarters = append(a.managedStarters, s) }

// PublisherConfig returns the app's parts of a publisher's configuration. It registers the metrics
// with the configuration of ctx. If watched is true, the guards record the pages that search
// engines request. If hasBase is true, stored bases are loaded.
func (a *App) PublisherConfig(ctx caddy.Context, watched, hasBase bool) (publish.Config, error) {
	if watched {
		a.state.WatchServed(context.Context(ctx))
	}
	if hasBase {
		if a.storesManagedBases = true; a.afterRestore == nil {
			a.afterRestore = a.state.Memory.AnnounceStore(a.ctx)
		}
	}
	return publish.Config{
		Registry: a.currentRegistry.Load(), RequestSites: a.sites, Bases: a.state.Bases, Storage: ctx.Storage(), Sites: &a.state.SiteHistories, StorageRead: a.state.Memory.Restored(),
		Instance: func() string { return loadInstanceID(a.logger) }, IsRunning: func() bool { return findRunningApp() == a },
		Visits: a.state.Visits, FetchedSince: a.state.FetchedSince, Trials: a.state, Now: time.Now, Logger: ctx.Logger(), Observer: a.events.WrapObserver(a.state.Metrics),
	}, a.registerMetrics(ctx)
}

// startManaged starts the handlers that were passed to [App.AddManagedStarter].
func (a *App) startManaged() {
	places := publish.FindHandlerPlaces(sortedServers(a.ctx), func(h caddyhttp.MiddlewareHandler) bool { _, ok := h.(ManagedStarter); return ok })
	for _, s := range a.managedStarters {
		p, stop := s.Start(places[s])
		a.publishers, a.stopFuncs = append(a.publishers, p), append(a.stopFuncs, stop)
	}
}

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

// RunningManaged returns the running robots_txt handlers of all configurations.
func (a *App) RunningManaged() *publish.RunningPublishers { return &a.state.ManagedPublishers }

// registerMetrics registers the metrics with the configuration of ctx, once. A second registration
// fails slowly.
func (a *App) registerMetrics(ctx caddy.Context) (err error) {
	if !a.metricsRegistered {
		err = a.state.Metrics.Register(ctx.GetMetricsRegistry())
		a.metricsRegistered = err == nil
	}
	return err
}

// FindManagedHandlers returns [handlerorder.FindRobotsTXTHandlers] for all robots_txt handlers of a configuration. The
// first call computes the result.
func (a *App) FindManagedHandlers(ctx caddy.Context, name func(config json.RawMessage) string) (texts handlerorder.RobotsTXTHandlers, err error) {
	if a.cachedManagedHandlers == nil {
		a.cachedManagedHandlers, err = handlerorder.FindRobotsTXTHandlers(ctx, name)
	}
	return a.cachedManagedHandlers, err
}

// Starter is a robots_txt handler that starts with the configuration.
type Starter interface {
	caddyhttp.MiddlewareHandler
	// Start starts to publish changes. It returns a function that stops publishing.
	Start(publish.HandlerPlace) (p *publish.Publisher, end func())
}

// AddStarter adds a handler that starts with the configuration. Call AddStarter in Provision.
func (a *App) AddStarter(s Starter) { a.managedStarters = append(a.managedStarters, s) }

// PublishConfig returns the app's parts of a publisher's configuration. It registers the metrics
// with the configuration of ctx. If watched is true, the guards record the pages that search
// engines request. If hasBase is true, stored bases are loaded.
func (a *App) PublishConfig(ctx caddy.Context, watched, hasBase bool) (publish.Config, error) {
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
		Instance: func() string { return instanceID(a.logger) }, IsRunning: func() bool { return runningApp() == a },
		Visits: a.state.Visits, FetchedSince: a.state.FetchedSince, Trials: a.state, Now: time.Now, Logger: ctx.Logger(), Observer: a.events.WrapObserver(a.state.Metrics),
	}, a.registerMetrics(ctx)
}

// startManaged starts the handlers that were passed to [App.AddStarter].
func (a *App) startManaged() {
	places := publish.FindPlaces(serversOf(a.ctx), func(h caddyhttp.MiddlewareHandler) bool { _, ok := h.(Starter); return ok })
	for _, s := range a.managedStarters {
		p, stop := s.Start(places[s])
		a.publishers, a.stopFuncs = append(a.publishers, p), append(a.stopFuncs, stop)
	}
}

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

// RunningPublishers returns the publishers of the robots_txt handlers in all running
// configurations.
func (a *App) RunningPublishers() *publish.RunningPublishers { return &a.state.ManagedPublishers }

// registerMetrics registers the metrics with the configuration of ctx. Only the first call does,
// because a second registration fails slowly.
func (a *App) registerMetrics(ctx caddy.Context) (err error) {
	if !a.metricsRegistered {
		err = a.state.Metrics.Register(ctx.GetMetricsRegistry())
		a.metricsRegistered = err == nil
	}
	return err
}

// FindManagedHandlers returns the robots_txt handlers of a configuration. The argument name is a
// function that computes the name of a handler from its JSON. The result of
// [handlerorder.FindRobotsTXTHandlers] is cached.
func (a *App) FindManagedHandlers(ctx caddy.Context, name func(config json.RawMessage) string) (handlers handlerorder.RobotsTXTHandlers, err error) {
	if a.cachedManagedHandlers == nil {
		a.cachedManagedHandlers, err = handlerorder.FindRobotsTXTHandlers(ctx, name)
	}
	return a.cachedManagedHandlers, err
}

// ManagedStarter is a robots_txt handler, which publishes changes while the configuration runs.
type ManagedStarter interface {
	caddyhttp.MiddlewareHandler
	// Start starts to publish changes. end stops publishing.
	Start(publish.HandlerPlace) (p *publish.Publisher, end func())
}

// AddManagedStarter makes Start of the app start a handler. Handlers call AddManagedStarter in
// Provision.
func (a *App) AddManagedStarter(s ManagedStarter) { a.managedStarters = append(a.managedStarters, s) }

// PublisherConfig returns a configuration for the publisher of a handler, with everything that the
// app provides. If usesVisits is true, the guards record the pages that search engines request. If
// hasBase is true, the stored copies of the robots.txt that the handler extends are loaded.
// PublisherConfig also registers the metrics.
func (a *App) PublisherConfig(ctx caddy.Context, usesVisits, hasBase bool) (publish.Config, error) {
	if usesVisits {
		a.state.RecordServedPages(context.Context(ctx))
	}
	if hasBase {
		if a.storesManagedBases = true; a.afterRestore == nil {
			a.afterRestore = a.state.Memory.AnnounceStore(a.ctx)
		}
	}
	return publish.Config{
		Registry: a.currentRegistry.Load(), RequestSites: a.sites, Bases: a.state.Bases, Storage: ctx.Storage(), Sites: &a.state.SiteHistories, StorageRead: a.state.Memory.Restored(),
		Instance: func() string { return loadInstanceID(a.logger) }, IsRunning: func() bool { return findRunningApp() == a },
		Visits: a.state.ServedPages, FetchedSince: a.state.CrawlersWithFetchSince, Trials: a.state, Now: time.Now, Logger: ctx.Logger(), Observer: a.events.WrapObserver(a.state.Metrics),
	}, a.registerMetrics(ctx)
}

// startManagedHandlers starts the handlers that were added with [App.AddManagedStarter].
func (a *App) startManagedHandlers() {
	places := publish.FindHandlerPlaces(sortedServers(a.ctx), func(h caddyhttp.MiddlewareHandler) bool { _, ok := h.(ManagedStarter); return ok })
	for _, s := range a.managedStarters {
		p, stop := s.Start(places[s])
		a.publishers, a.stopFuncs = append(a.publishers, p), append(a.stopFuncs, stop)
	}
}

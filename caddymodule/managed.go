package caddymodule

import (
	"context"
	"encoding/json"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/instance"
	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
	"github.com/robotsguard/caddy-robots-guard/internal/placement"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Bases returns the store of base files and a channel that is closed once stored files are
// loaded. Base files survive a reload and, if they are stored, a restart.
func (a *App) Bases() (bases *policy.Cache, stored <-chan struct{}) {
	if a.bases = true; a.restored == nil {
		a.restored = a.state.Memory.Expect(a.ctx)
	}
	return a.state.Bases, a.state.Memory.Restored()
}

// Running returns the running robots_txt handlers of all configurations.
func (a *App) Running() *publish.Running { return &a.state.Texts }

// Managed returns the observer of robots_txt handlers, after the metrics are registered with
// the configuration of ctx.
func (a *App) Managed(ctx caddy.Context) (publish.FileObserver, error) {
	return a.state.Metrics, a.register(ctx)
}

// register registers the metrics with the configuration of ctx, once. A second registration
// fails slowly.
func (a *App) register(ctx caddy.Context) (err error) {
	if !a.registered {
		err = a.state.Metrics.Register(ctx.GetMetricsRegistry())
		a.registered = err == nil
	}
	return err
}

// Texts returns [placement.TextsOf] for all robots_txt handlers of a configuration. It is computed
// once, when the first of them is provisioned.
func (a *App) Texts(ctx caddy.Context, name func(config json.RawMessage) string) (texts placement.Texts, err error) {
	if a.texts == nil {
		a.texts, err = placement.TextsOf(ctx, name)
	}
	return a.texts, err
}

// Starter is a robots_txt handler that starts with the configuration.
type Starter interface {
	caddyhttp.MiddlewareHandler
	// Start starts to publish changes and returns a function that stops it.
	Start(publish.Place) (r *publish.Release, end func())
}

// StartLater adds a handler that starts with the configuration. It is for Provision.
func (a *App) StartLater(s Starter) { a.starting = append(a.starting, s) }

// ReleaseConfig returns what the app knows of how changes come into force. watched is
// whether it has to be known what search engines are served until ctx ends.
func (a *App) ReleaseConfig(ctx caddy.Context, watched bool) publish.Config {
	if watched {
		a.state.WatchServed(context.Context(ctx))
	}
	return publish.Config{
		Registry: a.known.Load(), Storage: ctx.Storage(), Sites: &a.state.Published, Instance: func() string { return instance.ID(a.logger) },
		IsRunning: func() bool { return runningApp() == a }, Visits: a.state.Visits, Stored: a.state.Memory.Restored(), ReadSince: a.state.ReadSince, Trials: a.state, Now: time.Now, Observer: a.state.Metrics,
	}
}

// startManaged starts the handlers that were passed to [App.StartLater].
func (a *App) startManaged() {
	places := publish.PlacesOf(serversOf(a.ctx), func(h caddyhttp.MiddlewareHandler) bool { _, ok := h.(Starter); return ok })
	for _, s := range a.starting {
		r, end := s.Start(places[s])
		a.running, a.release = append(a.running, r), append(a.release, end)
	}
}

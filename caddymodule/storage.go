package caddymodule

import (
	"context"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/certmagic"

	"github.com/robotsguard/caddy-robots-guard/internal/metrics"
	"github.com/robotsguard/caddy-robots-guard/internal/store"
)

// newStore returns a store in the storage of Caddy.
func (a *App) newStore() *store.Store {
	return store.New(store.Options{
		Storage:   caddyStorage{a.ctx.Storage()},
		Instance:  instanceID(a.logger),
		Memory:    a.state.Memory,
		Observer:  a.state.Metrics,
		Logger:    a.logger,
		Restored:  a.restored,
		Exiting:   caddy.Exiting,
		Policies:  a.Policies,
		Retention: time.Duration(a.Retention),
	})
}

// caddyStorage is a storage of Caddy as a [store.Storage].
type caddyStorage struct{ certmagic.Storage }

// Stat implements [store.Storage].
func (s caddyStorage) Stat(ctx context.Context, key string) (size int64, modified time.Time, err error) {
	info, err := s.Storage.Stat(ctx, key)
	return info.Size, info.Modified, err
}

// Interface guards
var (
	_ store.Storage  = caddyStorage{}
	_ store.Observer = (*metrics.Metrics)(nil)
)

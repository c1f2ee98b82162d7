package caddymodule

import (
	"context"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/certmagic"

	"github.com/robotsguard/caddy-robots-guard/internal/metrics"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/store"
)

// historyStatus says whether counts survive a restart, and if not, why. By default, they survive if
// Caddy's storage is a local directory.
func (a *App) historyStatus() report.LedgerPersistence {
	switch {
	case a.Storage == nil:
		if _, local := a.ctx.Storage().(*certmagic.FileStorage); local {
			return report.LedgerPersistence{SurvivesRestart: true}
		}
		return report.LedgerPersistence{Reason: "Caddy's storage is not a local directory; to store the counts, write storage on in the global option robots_guard"}
	case *a.Storage:
		return report.LedgerPersistence{SurvivesRestart: true}
	}
	return report.LedgerPersistence{Reason: "the configuration has storage off"}
}

// newStore returns a store that uses Caddy's storage.
func (a *App) newStore() *store.Store {
	return store.New(store.Options{
		Storage:     caddyStorage{a.ctx.Storage()},
		Instance:    loadInstanceID(a.logger),
		Memory:      a.state.Memory,
		OnlyBases:   !a.historyStatus().SurvivesRestart,
		Observer:    a.state.Metrics,
		Logger:      a.logger,
		OnRestored:  a.afterRestore,
		IsExiting:   caddy.Exiting,
		MaxPolicies: a.MaxPolicies,
		Retention:   time.Duration(a.Retention),
	})
}

// caddyStorage adapts a storage of Caddy to [store.Storage].
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

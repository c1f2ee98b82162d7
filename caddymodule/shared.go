package caddymodule

import (
	"context"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/guard"
	"github.com/robotsguard/caddy-robots-guard/internal/notify"
)

// statePool has the one state that all configurations share. It survives a reload.
var statePool = caddy.NewUsagePool()

const stateKey = "robots_guard"

// shared is the value in the pool.
type shared struct {
	*guard.State
	sent notify.History
}

// sharedNow returns the state of the running configurations, or nil.
func sharedNow() (known *shared) {
	statePool.Range(func(_, value any) bool {
		known, _ = value.(*shared)
		return known == nil
	})
	return known
}

// acquireState returns the shared state and the history of sent alerts, and creates them for the
// first guard. It releases them when the configuration ends, also if loading failed.
func acquireState(ctx caddy.Context) (*guard.State, *notify.History, error) {
	value, _, err := statePool.LoadOrNew(stateKey, func() (caddy.Destructor, error) {
		known := &shared{State: guard.NewState()}
		known.Alerts.SetExtra(&known.sent)
		return known, nil
	})
	if err != nil {
		return nil, nil, err
	}
	context.AfterFunc(ctx, func() { _, _ = statePool.Delete(stateKey) }) // Destruct returns no error
	known := value.(*shared)
	return known.State, &known.sent, nil
}

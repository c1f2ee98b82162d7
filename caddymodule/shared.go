package caddymodule

import (
	"context"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/guard"
	"github.com/robotsguard/caddy-robots-guard/internal/notify"
)

// statePool holds the one state that all configurations share: it survives a
// reload.
var statePool = caddy.NewUsagePool()

const stateKey = "robots_guard"

// shared is what the pool has.
type shared struct {
	*guard.State
	sent notify.History
}

// sharedNow returns what the configurations that run share, nil for nothing.
func sharedNow() (known *shared) {
	statePool.Range(func(_, value any) bool {
		known, _ = value.(*shared)
		return known == nil
	})
	return known
}

// acquireState returns the shared state and the history of sent alerts, making them for
// the first guard. They are released when the configuration ends, also one that
// failed to load.
func acquireState(ctx caddy.Context) (*guard.State, *notify.History, error) {
	value, _, err := statePool.LoadOrNew(stateKey, func() (caddy.Destructor, error) {
		known := &shared{State: guard.NewState()}
		known.Alerts.KeepBeside(&known.sent)
		return known, nil
	})
	if err != nil {
		return nil, nil, err
	}
	context.AfterFunc(ctx, func() { _, _ = statePool.Delete(stateKey) }) // Destruct returns no error
	known := value.(*shared)
	return known.State, &known.sent, nil
}

package caddymodule

import (
	"context"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/guard"
)

// statePool holds the one state that all configurations share: it survives a
// reload.
var statePool = caddy.NewUsagePool()

const stateKey = "robots_guard"

// acquireState returns the shared state, making it for the first guard. It is
// released when the configuration ends, also one that failed to load.
func acquireState(ctx caddy.Context) (*guard.State, error) {
	value, _, err := statePool.LoadOrNew(stateKey, func() (caddy.Destructor, error) { return guard.NewState(), nil })
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _, _ = statePool.Delete(stateKey) }) // Destruct returns no error
	return value.(*guard.State), nil
}

package caddymodule

import (
	"context"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/guard"
)

// statePool has the one [guard.State] that all configurations share, and that survives a reload.
var statePool = caddy.NewUsagePool()

const stateKey = "robots_guard"

// findRunningState returns the state that the running configurations share, or nil.
func findRunningState() (state *guard.State) {
	statePool.Range(func(_, value any) bool {
		state, _ = value.(*guard.State)
		return state == nil
	})
	return state
}

// acquireState returns the state that all configurations share. The first call creates it. The
// state is released when the context of the configuration ends, also if the configuration fails to
// load.
func acquireState(ctx caddy.Context) (*guard.State, error) {
	value, _, err := statePool.LoadOrNew(stateKey, func() (caddy.Destructor, error) { return guard.NewState(), nil })
	if err != nil {
		return nil, err
	}
	// The method Destruct of a State returns no error.
	context.AfterFunc(ctx, func() { _, _ = statePool.Delete(stateKey) })
	return value.(*guard.State), nil
}

package caddymodule

import (
	"context"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/guard"
	"github.com/robotsguard/caddy-robots-guard/internal/notify"
)

// statePool contains the state that all configurations share. The state survives a reload.
var statePool = caddy.NewUsagePool()

const stateKey = "robots_guard"

// sharedState is the value in the pool.
type sharedState struct {
	*guard.State
	sentAlerts notify.History
}

// currentSharedState returns the state of the running configurations, or nil.
func currentSharedState() (state *sharedState) {
	statePool.Range(func(_, value any) bool {
		state, _ = value.(*sharedState)
		return state == nil
	})
	return state
}

// acquireState returns the shared state and the history of sent alerts. The first guard creates
// both. They are released when the configuration ends, also after a failed load.
func acquireState(ctx caddy.Context) (*guard.State, *notify.History, error) {
	value, _, err := statePool.LoadOrNew(stateKey, func() (caddy.Destructor, error) {
		state := &sharedState{State: guard.NewState()}
		state.Alerts.SetExtra(&state.sentAlerts)
		return state, nil
	})
	if err != nil {
		return nil, nil, err
	}
	context.AfterFunc(ctx, func() { _, _ = statePool.Delete(stateKey) }) // Destruct returns no error
	state := value.(*sharedState)
	return state.State, &state.sentAlerts, nil
}

package caddymodule

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
)

// series returns the number of metrics of this module in a configuration.
func series(t *testing.T, ctx caddy.Context) (n int) {
	t.Helper()
	all, err := ctx.GetMetricsRegistry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range all {
		if strings.HasPrefix(family.GetName(), "caddy_robots_guard_") {
			n++
		}
	}
	return n
}

// TestMetricsWhileReloading requests the metrics of a new configuration. It shows the metrics of
// the previous one until its guards are provisioned, or until it has none.
func TestMetricsWhileReloading(t *testing.T) {
	others := statePool // from tests whose configurations have not ended
	defer func() { statePool = others }()
	statePool = caddy.NewUsagePool()
	before, end := caddy.NewContext(caddy.Context{Context: context.Background()})
	state, err := acquireState(before)
	if err == nil {
		err = state.Metrics.Register(before.GetMetricsRegistry())
	}
	if err != nil {
		t.Fatal(err)
	}
	want := series(t, before)
	if want == 0 {
		t.Fatal("there are no metrics")
	}
	without, endWithout := caddy.NewContext(caddy.Context{Context: context.Background()})
	defer endWithout()
	with, endWith := caddy.NewContext(caddy.Context{Context: context.Background()})
	for _, ctx := range []caddy.Context{without, with} {
		if err := new(adminAPI).Provision(ctx); err != nil {
			t.Fatal(err)
		}
		if got := series(t, ctx); got != want {
			t.Errorf("%d metrics while the next configuration is loaded, want %d", got, want)
		}
	}
	if _, err = acquireState(with); err == nil {
		err = state.Metrics.Register(with.GetMetricsRegistry())
	}
	if end(); err != nil || series(t, with) != want {
		t.Errorf("%d metrics of the next configuration, want %d: %v", series(t, with), want, err)
	}
	endWith()
	for range 1000 { // until the state is released
		if findRunningState() == nil && series(t, without) == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d metrics of a configuration without a guard", series(t, without))
}

package caddymodule

import (
	"fmt"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestAppBounds sets the bound of the cache to the value of the last running configuration.
func TestAppBounds(t *testing.T) {
	ctx, err := caddy.ProvisionContext(&caddy.Config{Admin: &caddy.AdminConfig{Disabled: true}})
	if err != nil {
		t.Fatal(err)
	}
	provision := func(policies int) *App {
		a := &App{MaxPolicies: policies, Storage: new(bool)}
		if err := a.Provision(ctx); err != nil {
			t.Fatal(err)
		}
		return a
	}
	small, large := provision(2), provision(0)
	fill := func() int {
		for n := range 5 {
			small.state.Cache.GetOrCreate(policy.Key{Host: fmt.Sprint(n)}, policy.ConfiguredHosts)
		}
		return small.state.CacheStats(policy.ConfiguredHosts).Entries
	}
	if n := fill(); n != 5 {
		t.Fatalf("%d, before any configuration runs", n)
	}
	for _, step := range []struct {
		name string
		do   func() error
		want int
	}{
		{"the first starts", small.Start, 2},
		{"the second starts", large.Start, 5},
		{"the second is given up", large.Stop, 2},
		{"the second starts again", large.Start, 5},
		{"the first stops", small.Stop, 5},
		{"the first starts again", small.Start, 2},
		{"the second stops", large.Stop, 2},
		{"none runs", small.Stop, 5},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if n := fill(); n != step.want {
			t.Errorf("%s: %d entries are cached, want %d", step.name, n, step.want)
		}
	}
	for _, n := range []int{-1, maxPolicies + 1} {
		if err := (&App{MaxPolicies: n}).Provision(ctx); err == nil {
			t.Errorf("%d policies are accepted", n)
		}
	}
}

// TestAppIsNotCopied checks that an event does not copy the app while the app adopts another
// registry. An event asks its origin for the ID.
func TestAppIsNotCopied(t *testing.T) {
	if _, ok := any(App{}).(caddy.Module); ok {
		t.Error("CaddyModule copies the app")
	}
}

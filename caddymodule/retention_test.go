package caddymodule

import (
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

// TestRetention applies the retention of the last running configuration.
func TestRetention(t *testing.T) {
	ctx, err := caddy.ProvisionContext(&caddy.Config{Admin: &caddy.AdminConfig{Disabled: true}})
	if err != nil {
		t.Fatal(err)
	}
	short := &App{Storage: new(bool), Retention: caddy.Duration(2 * time.Hour)}
	if err := short.Provision(ctx); err != nil {
		t.Fatal(err)
	}
	now, l := time.Now(), short.state.Ledger
	ask := func(ago time.Duration) {
		l.Record(&ledger.Request{At: now.Add(-ago), Site: "retention.example", Token: "GPTBot", Class: 5})
	}
	sites := func() (n int) {
		for _, site := range l.Snapshot().Sites {
			if site.Name == "retention.example" {
				n++
			}
		}
		return n
	}
	ask(24 * time.Hour)
	if sites() != 1 {
		t.Error("a day is too old by default")
	}
	if err := short.Start(); err != nil {
		t.Fatal(err)
	}
	if sites() != 0 {
		t.Error("a day is not too old for two hours")
	}
	if err := short.Stop(); err != nil {
		t.Fatal(err)
	}
	ask(24 * time.Hour)
	if sites() != 1 {
		t.Error("a day is too old again")
	}
	for _, retention := range []time.Duration{time.Minute, 91 * 24 * time.Hour, -time.Hour} {
		if err := (&App{Retention: caddy.Duration(retention)}).Validate(); err == nil {
			t.Errorf("a retention of %v is accepted", retention)
		}
	}
}

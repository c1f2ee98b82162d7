package caddymodule

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/caddyserver/caddy/v2"
)

// TestPoliciesOfManyHosts caches the robots.txt of each host, by http and https, if the
// configuration names more hosts than the default bound.
func TestPoliciesOfManyHosts(t *testing.T) {
	for _, tc := range []struct{ hosts, configured, want int }{
		{3, 0, 10_000},
		{12_000, 0, 24_000},
		{12_000, 11_000, 11_000},
	} {
		names := make([]string, tc.hosts)
		for i := range names {
			names[i] = fmt.Sprintf("s%d.test", i)
		}
		server := map[string]any{
			"listen":          []string{"127.0.0.1:0"},
			"automatic_https": map[string]any{"disable": true},
			"routes": []any{map[string]any{
				"match":  []any{map[string]any{"host": names}},
				"handle": []any{map[string]any{"handler": "robots_guard"}},
			}},
		}
		config, err := json.Marshal(map[string]any{
			"admin":   map[string]any{"disabled": true, "config": map[string]any{"persist": false}},
			"logging": map[string]any{"logs": map[string]any{"default": map[string]any{"writer": map[string]any{"output": "discard"}}}},
			"apps": map[string]any{
				"http":         map[string]any{"servers": map[string]any{"many": server}},
				"robots_guard": App{MaxPolicies: tc.configured},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := caddy.Load(config, true); err != nil {
			t.Fatal(err)
		}
		if got := findRunningApp().MaxPolicies; got != tc.want {
			t.Errorf("with %d hosts and policies %d, the robots.txt of %d sites is cached, want %d", tc.hosts, tc.configured, got, tc.want)
		}
	}
	if err := caddy.Stop(); err != nil {
		t.Fatal(err)
	}
}

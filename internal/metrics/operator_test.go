package metrics

import (
	"net/http"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

func TestRootDisallowed(t *testing.T) {
	m := New(nothing{}, kinds, results)
	for _, tc := range []struct {
		name, text string
		status     int
		want       float64
	}{
		{"no robots.txt", "", http.StatusNotFound, 0},
		{"empty", "", http.StatusOK, 0},
		{"everything closed", "User-agent: *\nDisallow: /\n", http.StatusOK, 1},
		{"a part closed", "User-agent: *\nDisallow: /private/\n", http.StatusOK, 0},
		{"closed for one", "User-agent: GPTBot\nDisallow: /\n", http.StatusOK, 0},
		{"closed but for one", "User-agent: Googlebot\nAllow: /\n\nUser-agent: *\nDisallow: /\n", http.StatusOK, 1},
		{"the home page open", "User-agent: *\nDisallow: /\nAllow: /$\n", http.StatusOK, 0},
	} {
		s := policy.State{}.AfterFetch(policy.FetchResult{Status: tc.status, Body: []byte(tc.text)}, time.Now(), policy.FreshnessPolicy{Max: time.Hour}, 0)
		m.SetRobotsState("a.example", s)
		if got := gathered(t, m, "root_disallowed", "host")["a.example"]; got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestHandlersAreCountedWhileConfigured(t *testing.T) {
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	defer cancel()
	m := New(nothing{}, kinds, results)
	m.CountHandler(ctx, "enforce")
	m.CountHandler(ctx, "enforce")
	if got := gathered(t, m, "handlers", "mode"); got["enforce"] != 2 || got["monitor"] != 0 || len(got) != 2 {
		t.Errorf("got %v", got)
	}
	cancel()
	for deadline := time.Now().Add(20 * time.Second); gathered(t, m, "handlers", "mode")["enforce"] != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("still counted after the end of the configuration")
		}
	}
}

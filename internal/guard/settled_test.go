package guard

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

// TestSettledOnce has a request come to a guard among the error routes, or behind
// on_violation, which another guard has judged before: what that has blocked is blocked no
// more, so that the page for it can be served, and it counts once.
func TestSettledOnce(t *testing.T) {
	for _, tc := range []struct {
		name, target string
		front        bool // whether a guard stands in front
		failed       bool // whether the request comes by an error route
		asked        int  // how often what is behind the second guard is asked
	}{
		{"blocked, in an error route", "/private/x", true, true, 1},
		{"blocked, and passed on by on_violation", "/private/x", true, false, 1},
		{"let pass, in an error route", "/x", true, true, 1},
		{"no guard before, in an error route", "/private/x", false, true, 0},
	} {
		first := testGuard(t, options{Enforce: true}, serving("User-agent: *\nDisallow: /private/\n"))
		first.shared.Ledger = ledger.New(time.Now)
		c := options{Enforce: true}.config(t)
		c.Source = first.Source
		second := New(t.Context(), first.shared, c)
		<-fetchDone(first, requestBy("GPTBot/1.0", tc.target))

		r := caddyhttp.PrepareRequest(requestBy("GPTBot/1.0", tc.target), caddy.NewReplacer(), httptest.NewRecorder(), new(caddyhttp.Server))
		next := caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return nil })
		if tc.front {
			_ = first.Serve(httptest.NewRecorder(), r, next)
		}
		if tc.failed {
			r = new(caddyhttp.HTTPErrorConfig).WithError(r, errors.New("failed"))
		}
		asked := 0
		_ = second.Serve(httptest.NewRecorder(), r, caddyhttp.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) error {
			asked++
			repl := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
			if got := repl.ReplaceAll("{http.robots_guard.crawler}", "?"); got != "GPTBot" {
				t.Errorf("%s: the placeholder of the first guard is %q", tc.name, got)
			}
			return nil
		}))
		if asked != tc.asked {
			t.Errorf("%s: asked %d times", tc.name, asked)
		}
		requests := 0
		for _, site := range first.shared.Ledger.Snapshot().Sites {
			for _, row := range site.Rows {
				counts := row.Series[ledger.Days][0].Counts()
				requests += int(counts.Requests())
			}
		}
		if requests != 1 {
			t.Errorf("%s: counted %d times", tc.name, requests)
		}
	}
}

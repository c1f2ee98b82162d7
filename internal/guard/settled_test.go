package guard

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

// TestSettledOnce tests a guard in an error route or behind on_violation, after another
// guard has evaluated the request. A blocked request is not blocked again, so that its
// error page can be served, and it counts once.
func TestSettledOnce(t *testing.T) {
	for _, tc := range []struct {
		name, target string
		front        bool // there is a guard before
		failed       bool // the request comes through an error route
		asked        int  // number of requests that reach the handler behind the second guard
	}{
		{"blocked, in an error route", "/private/x", true, true, 1},
		{"blocked, and passed on by on_violation", "/private/x", true, false, 1},
		{"let pass, in an error route", "/x", true, true, 1},
		{"no guard before, in an error route", "/private/x", false, true, 0},
	} {
		first := testGuard(t, options{Enforce: true}, serving("User-agent: *\nDisallow: /private/\n"))
		c := options{Enforce: true}.config(t)
		c.Source = first.Source
		second := New(t.Context(), first.state, c)
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
		for _, site := range first.state.Ledger.Snapshot().Sites {
			for _, row := range site.Rows {
				counts := row.Series[ledger.Days][0].CounterValues()
				requests += int(counts.TotalRequests())
			}
		}
		if requests != 1 {
			t.Errorf("%s: counted %d times", tc.name, requests)
		}
	}
}

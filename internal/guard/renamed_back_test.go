package guard

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestChangedWhileRenamed has the file change between two reloads, of which the second takes
// back what the first has named otherwise: the grace of a crawler that has read it meanwhile, and a
// hold of the change guard, go on.
func TestChangedWhileRenamed(t *testing.T) {
	const (
		before = "User-agent: *\nDisallow: /a\nDisallow: /b\n"
		milder = "User-agent: *\nDisallow: /b\n"
		after  = "User-agent: *\nDisallow: /a\n"
	)
	for _, tc := range []struct {
		name    string
		options options
	}{
		{"grace", options{Enforce: true}},
		{"change guard", options{Enforce: true, Grace: -1, Guard: 6 * time.Hour}},
	} {
		for _, hosts := range [][]string{{"*.com", "example.com"}, {"example.com", "*.com"}} {
			t.Run(tc.name+" of "+hosts[0], func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					text := before
					g := testGuard(t, tc.options, &scriptedSource{answer: func(context.Context) policy.Answer {
						return policy.Answer{Status: http.StatusOK, Body: []byte(text)}
					}})
					ctx, end := context.WithCancel(t.Context())
					defer end()
					g.shared.changes.Guarded(ctx)
					reload := func(host string) (visit func(userAgent, target string) string) {
						g = New(ctx, g.shared, g.Config)
						g.shared.Reread(ctx)
						server := &caddyhttp.Server{Routes: caddyhttp.RouteList{{MatcherSets: caddyhttp.MatcherSets{{new(caddyhttp.MatchHost{host})}}}}}
						return func(userAgent, target string) string {
							r := from(requestBy(userAgent, target), "192.0.2.1")
							r = r.WithContext(context.WithValue(r.Context(), caddyhttp.ServerCtxKey, server))
							j := g.Judge(r)
							next := caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
								_, err := w.Write([]byte(text))
								return err
							})
							pass := g.pass
							if target == "/robots.txt" {
								pass = g.passRobots
							}
							if err := pass(httptest.NewRecorder(), r, j, next); err != nil {
								t.Fatal(err)
							}
							synctest.Wait()
							time.Sleep(time.Hour)
							return j.Verdict.String() + ", " + j.Action.String()
						}
					}
					visit := reload(hosts[0])
					visit(uaGPTBot, "/a")

					text = milder
					visit = reload(hosts[1])
					visit(uaBingbot, "/robots.txt")
					if got := visit(uaBingbot, "/a"); got != allowed {
						t.Fatalf("by the milder text: %s", got)
					}
					text = after
					visit(uaGPTBot, "/a")
					if got := visit(uaBingbot, "/a"); got != stale {
						t.Fatalf("by the last text: %s", got)
					}

					visit = reload(hosts[0])
					if got := visit(uaBingbot, "/a"); got != stale {
						t.Errorf("once the host is named as before: %s", got)
					}
				})
			})
		}
	}
}

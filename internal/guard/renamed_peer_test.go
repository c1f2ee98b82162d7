package guard

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestNamedOtherwiseElsewhere has another instance go on with the configuration before, and read
// what the host serves there: this one goes on reading its own file, and judges by that.
func TestNamedOtherwiseElsewhere(t *testing.T) {
	const elsewhere = "User-agent: *\nDisallow: /a\n"
	synctest.Test(t, func(t *testing.T) {
		s := newChangingSite(t, options{Enforce: true, Grace: -1}, "User-agent: *\nDisallow: /b\n")
		var before policy.Key
		visit := func(host, target string) string {
			server := &caddyhttp.Server{Routes: caddyhttp.RouteList{{MatcherSets: caddyhttp.MatcherSets{{new(caddyhttp.MatchHost{host})}}}}}
			r := from(requestBy(uaGPTBot, target), "192.0.2.1")
			j := s.g.Judge(r.WithContext(context.WithValue(r.Context(), caddyhttp.ServerCtxKey, server)))
			synctest.Wait()
			before = j.Site.Key
			return j.Verdict.String() + ", " + j.Action.String()
		}
		visit("*.com", "/b")
		theirs := before
		for range 3 {
			s.g = New(t.Context(), s.g.shared, s.g.Config)
			s.g.shared.Reread(t.Context())
			for range 3 {
				time.Sleep(20 * time.Minute)
				now := time.Now()
				version := policy.VersionOf(policy.Answer{Status: 200, Body: []byte(elsewhere)}, now)
				s.g.shared.Cache.Restore(theirs, theirs.Segment(), policy.State{Good: version, Due: now.Add(10 * time.Minute)}, true)
				visit("example.com", "/") // which has it read
				if got := visit("example.com", "/a"); got != allowed {
					t.Errorf("what its own file allows: %s", got)
				}
				time.Sleep(time.Second)
				if got := visit("example.com", "/b"); got != "disallowed, blocked" {
					t.Errorf("what its own file forbids: %s", got)
				}
			}
		}
	})
}

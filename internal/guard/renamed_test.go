package guard

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestDecideForARenamedHost names the host of a proxy otherwise in the next configuration: what
// was read from the source of the host stays known, although nothing can be read there any more.
func TestDecideForARenamedHost(t *testing.T) {
	for _, tc := range []struct{ name, before, after string }{
		{"from a wildcard", "*.test", "a.test"},
		{"to a wildcard", "a.test", "*.test"},
		{"from any host", "other.test", "a.test"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, _ := decider(t, func(policy.Key) string { return "User-agent: *\nDisallow: /private/\n" })
				name := func(g *Guard, host string) {
					g.Forwarded = request.HostsOfServer(nil)
					g.Forwarded.Add(caddyhttp.MatchHost{host})
				}
				name(g, tc.before)
				const url = "https://a.test/private/x"
				if got := asks(g, "GPTBot/1.3", url).Code; got != http.StatusForbidden {
					t.Fatalf("before: got %d", got)
				}
				config := g.Config
				config.Source = &scriptedSource{answer: func(context.Context) policy.Answer { return policy.Answer{Status: http.StatusBadGateway} }}
				next := New(context.Background(), g.shared, config)
				name(next, tc.after)
				if got := asks(next, "GPTBot/1.3", url).Code; got != http.StatusForbidden {
					t.Errorf("after: got %d", got)
				}
				synctest.Wait()
			})
		})
	}
}

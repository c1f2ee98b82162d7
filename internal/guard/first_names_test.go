package guard

import (
	"context"
	"net/http"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestNamedByTheFirstCopy checks that the first requests of crawlers wait for a
// robots.txt that names them. Their own group applies to the first request as to all
// later ones.
func TestNamedByTheFirstCopy(t *testing.T) {
	for _, tc := range []struct{ name, agent string }{
		{"foobot", "FooBot/1.0"},
		{"shop", "Mozilla/5.0 (compatible; Shop Spider/1.0; +https://shop.test/bot)"},
		{"acme", "Acme Shop crawler/1.0 (+https://acme.test/bot)"},
		{"acme-web", "Acme-Web/2.0 (crawler; +https://acme.test/bot)"},
		{"quux", "Mozilla/5.0 (compatible; bot/1.0; Quux/2.0; +https://quux.test/bot)"},
		{"quux", "SomeBot/1.0 Quux/2.0"},
		{"quux", "Googlebot/2.1 (+http://www.google.com/bot.html) Quux/2.0"},
		{"quux", "AhrefsBot/7.0 Quux/2.0"},
	} {
		for _, text := range []string{
			"User-agent: *\nDisallow: /\n\nUser-agent: " + tc.name + "\nAllow: /\n",
			"User-agent: *\nAllow: /\n\nUser-agent: " + tc.name + "\nDisallow: /\n",
		} {
			g := testGuard(t, options{Enforce: true}, &scriptedSource{answer: func(context.Context) policy.FetchResult {
				return policy.FetchResult{Status: http.StatusOK, Body: []byte(text)}
			}})
			var got [3]judge.Verdict
			for i := range got {
				got[i] = g.Judge(requestBy(tc.agent, "/x")).Verdict
			}
			if got[0] != got[2] {
				t.Errorf("%s by %q: first %s, then %s", tc.agent, text, got[0], got[2])
			}
		}
	}
}

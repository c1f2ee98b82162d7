package guard

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// TestExplanation compares the whole text for the author of an honest crawler.
func TestExplanation(t *testing.T) {
	j := &Judgement{
		Request: judge.Request{Client: uaident.Identify("GPTBot/1.2"), Verification: verify.Claimed, Method: http.MethodGet, Target: "/private/a"},
		Site:    new(site.NewSite(policy.Key{IsHTTPS: true, Host: "example.com"})),
	}
	var scratch judge.Scratch
	settings := judge.Settings{Enforce: true}
	settings.Judge(&j.Request, judge.Rules{Robots: policy.Parse([]byte("User-agent: *\nDisallow: /private/\n"))}, &scratch, &j.Result)
	const want = `The robots.txt of this site does not allow GPTBot to fetch this URL.

file:  https://example.com/robots.txt
group: User-agent: * (line 1)
rule:  Disallow: /private/ (line 2)

If you run this crawler, please let it obey the robots.txt (RFC 9309). If you do not run it,
your client sends the name of this crawler in its User-Agent.
`
	if got := string(explainBlock(j)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestRefuse checks the response for each reason to block a client.
func TestRefuse(t *testing.T) {
	robots := policy.Parse([]byte("User-agent: *\nDisallow: /private/\n"))
	for _, tc := range []struct {
		name, userAgent string
		identity        verify.State
		falseName       judge.SpoofedHandling
		rules           judge.Rules
		status          int
		want            string
	}{
		{"by a rule", "GPTBot/1.2", verify.Claimed, 0, judge.Rules{Robots: robots}, 451, "rule:  Disallow: /private/ (line 2)\n"},
		{"by a rule, under a false name", "Googlebot/2.1", verify.Spoofed, 0, judge.Rules{Robots: robots}, 451, "So the rules for unnamed crawlers apply, too.\n"},
		{"for the false name alone", "Googlebot/2.1", verify.Spoofed, judge.BlockSpoofed, judge.Rules{Robots: policy.Parse(nil)}, 451, "This client calls itself Googlebot"},
		{"while the rules are unknown", "GPTBot/1.2", verify.Claimed, 0, judge.Rules{DisallowAll: true}, 503, "Please come back later.\n"},
	} {
		j := &Judgement{
			Request: judge.Request{Client: uaident.Identify(tc.userAgent), Verification: tc.identity, Method: http.MethodGet, Target: "/private/a"},
			Site:    new(site.NewSite(policy.Key{IsHTTPS: true, Host: "example.com"})),
		}
		var scratch judge.Scratch
		settings := judge.Settings{Enforce: true, SpoofedHandling: tc.falseName}
		settings.Judge(&j.Request, tc.rules, &scratch, &j.Result)
		if j.Action != judge.Blocked {
			t.Fatalf("%s: %s", tc.name, j.Action)
		}
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			w := httptest.NewRecorder()
			if err := Refuse(w, httptest.NewRequest(method, "/private/a", nil), j, 451); err != nil {
				t.Fatalf("%s: %v", tc.name, err)
			}
			if body := w.Body.String(); w.Code != tc.status || method == http.MethodGet && !strings.Contains(body, tc.want) || method == http.MethodHead && body != "" {
				t.Errorf("%s, %s: %d %q, want %d and %q", tc.name, method, w.Code, body, tc.status, tc.want)
			}
			if h := w.Header(); h.Get("Cache-Control") != "no-store" || h.Get("Vary") != "User-Agent" {
				t.Errorf("%s, %s: %v may be cached for others", tc.name, method, h)
			}
		}
	}
}

package neighbours

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestRateLimitRecipe runs the guide's configuration of the module. Each crawler has
// its own limit, and can fetch robots.txt and sitemaps at any time. Build a server
// with both modules and pass it to the test:
//
//	xcaddy build --with github.com/mholt/caddy-ratelimit --with github.com/robotsguard/caddy-robots-guard=.
//	go test -v -run TestRateLimitRecipe ./integration/neighbours -caddy $PWD/caddy
func TestRateLimitRecipe(t *testing.T) {
	if modules, _, _ := harness.Command(t, "", "list-modules", "--packages"); !strings.Contains(modules, "http.handlers.rate_limit github.com/mholt/caddy-ratelimit") {
		t.Skip("needs -caddy with a server that has github.com/mholt/caddy-ratelimit")
	}
	guide, err := os.ReadFile("../../docs/guides/slow.md")
	if err != nil {
		t.Fatal(err)
	}
	_, recipe, ok := strings.Cut(string(guide), "github.com/mholt/caddy-ratelimit\nexample.com {\n")
	recipe, _, end := strings.Cut(recipe, "\n```")
	if !ok || !end || !strings.Contains(recipe, "events 30") {
		t.Fatalf("the guide lacks the configuration: %s", recipe)
	}
	s := harness.Serve(t, "http://a.test:$PORT {\n"+strings.Replace(recipe, "reverse_proxy app:8080", "respond /robots.txt \"User-agent: *\nDisallow: /private/\n\"\nrespond \"a page\"", 1))
	s.Warm("/")
	for _, tc := range []struct {
		userAgent, path string
		passes          int // of 35 requests
	}{
		{harness.GPTBot, "/page", 30}, {"CCBot/2.0", "/page", 30}, {harness.GPTBot, "/robots.txt", 35}, {harness.GPTBot, "/sitemap.xml", 35},
		{harness.GPTBot, "/.well-known/x", 35}, {harness.GPTBot, "/private/x", 0}, {harness.Bingbot, "/page", 35}, {harness.Firefox, "/page", 35},
	} {
		passes := 0
		for range 35 {
			if harness.Get(t, s.URL(tc.path), tc.userAgent).Status == http.StatusOK {
				passes++
			}
		}
		if passes != tc.passes {
			t.Errorf("%s as %s: %d of 35 pass, want %d", tc.path, tc.userAgent, passes, tc.passes)
		}
	}
}

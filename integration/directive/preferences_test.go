package directive

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestPreferences checks that applications and the access log receive the preferences
// in robots.txt, and that the preferences block nothing.
func TestPreferences(t *testing.T) {
	t.Parallel()
	const robots = "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /press/ train-ai=y, search=y\nDisallow: /private/\n\n" +
		"User-agent: bingbot\nDisallow: /private/\n"
	o := harness.NewOrigin(t, robots, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/robots.txt" {
			return false
		}
		fmt.Fprint(w, "page")
		return true
	})
	s := harness.Serve(t, `http://a.test:$PORT {
		log
		robots_guard enforce
		header >X-Use "{http.robots_guard.preference.train_ai}|{http.robots_guard.preference.ai_use}|{http.robots_guard.preference.search}"
		reverse_proxy $ORIGIN
	}`, "$ORIGIN", o.Address())
	s.Warm("/")
	for _, tc := range []struct {
		userAgent, path, want string
		status                int
	}{
		{"GPTBot/1.2", "/page", "n|unknown|unknown", 200},
		{"GPTBot/1.2", "/press/a?b", "y|unknown|y", 200},
		{"GPTBot/1.2", "/private/a", "", 403},
		{harness.Bingbot, "/page", "unknown|unknown|unknown", 200},
		{harness.Firefox, "/page", "||", 200},
	} {
		a := harness.Get(t, s.URL(tc.path), tc.userAgent)
		if a.Status != tc.status || tc.status == 200 && a.Header.Get("X-Use") != tc.want {
			t.Errorf("%s as %q: status %d, preferences %q, want %d and %q", tc.path, tc.userAgent, a.Status, a.Header.Get("X-Use"), tc.status, tc.want)
		}
	}
	logged := make(map[string]bool)
	for _, line := range s.Await("handled request", 6) { // the first line is that of Warm
		judged, _ := line["robots_guard"].(map[string]any)
		if stated, ok := judged["preferences"].(string); ok {
			logged[stated] = true
		}
	}
	for _, stated := range []string{"train-ai=n", "train-ai=y, search=y"} {
		if !logged[stated] {
			t.Errorf("no access log line has the preferences %q; logged are %v", stated, logged)
		}
	}
}

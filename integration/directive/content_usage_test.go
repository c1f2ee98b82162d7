package directive

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestContentUsageHeader adds what the robots.txt states to everybody to answers that
// are pages, the same for all, beside what the site states itself.
func TestContentUsageHeader(t *testing.T) {
	t.Parallel()
	const robots = "User-agent: *\nContent-Usage: train-ai=n, search=y\nDisallow: /private/\n\n" +
		"User-agent: bingbot\nContent-Usage: /shared/ train-ai=y\nDisallow: /none/\n"
	o := harness.NewOrigin(t, robots, func(w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/robots.txt":
			return false
		case "/own":
			w.Header()["Content-Usage"] = []string{"train-ai=y", "x=1"}
		case "/broken":
			w.Header()["Content-Usage"] = []string{"TRAIN-AI=n"}
		case "/gone":
			w.WriteHeader(http.StatusGone)
		case "/moved":
			http.Redirect(w, r, "/", http.StatusFound)
		case "/same":
			w.WriteHeader(http.StatusNotModified)
		}
		return true
	})
	const site = `http://a.test:$PORT {
		robots_guard enforce {
			content_usage_header HEADER
		}
		reverse_proxy $ORIGIN
	}`
	s := harness.Serve(t, site, "HEADER", "on", "$ORIGIN", o.Address())
	for begun := time.Now(); harness.Get(t, s.URL("/"), harness.Firefox).Header.Get("Content-Usage") == ""; { // a browser causes the reading, too
		if time.Since(begun) > 10*time.Second {
			t.Fatal("no header, although browsers ask for pages")
		}
	}
	both := []string{"train-ai=n, search=y"}
	for _, tc := range []struct {
		path   string
		status int
		want   []string
	}{
		{"/page", 200, both},
		{"/same", 304, nil},
		{"/own", 200, []string{"train-ai=y", "x=1", "search=y"}},
		{"/broken", 200, []string{"TRAIN-AI=n"}},
		{"/shared/1", 200, []string{"search=y"}},
		{"/gone", 410, nil},
		{"/moved", 302, nil},
		{"/robots.txt", 200, nil},
	} {
		for _, userAgent := range []string{harness.Firefox, harness.GPTBot, harness.Bingbot, "curl/8.7"} {
			a := harness.Get(t, s.URL(tc.path), userAgent)
			if got := a.Header.Values("Content-Usage"); a.Status != tc.status || !slices.Equal(got, tc.want) {
				t.Errorf("%s as %q: status %d with %q, want %d with %q", tc.path, userAgent, a.Status, got, tc.status, tc.want)
			}
		}
	}
	for userAgent, status := range map[string]int{harness.Firefox: 200, harness.GPTBot: 403} {
		if a := harness.Get(t, s.URL("/private/1"), userAgent); a.Status != status || a.Header.Get("Content-Usage") != "" {
			t.Errorf("/private/1 as %q: status %d with %q", userAgent, a.Status, a.Header.Get("Content-Usage"))
		}
	}

	off := harness.Serve(t, site, "HEADER", "off", "$ORIGIN", o.Address())
	off.Warm("/")
	if a := harness.Get(t, off.URL("/page"), harness.GPTBot); a.Header.Get("Content-Usage") != "" {
		t.Errorf("a header, although it is off: %q", a.Header)
	}
}

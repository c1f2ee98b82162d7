package guard

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// TestOwnPages checks that a client that reads the dashboard does not count as a
// crawler, at this host and below this path.
func TestOwnPages(t *testing.T) {
	g := recordingGuard(t, options{Enforce: true}, mixedRobots)
	dashboard := g.shared.OwnPages(http.NotFoundHandler())
	open := func(url string) { dashboard.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", url, nil)) }
	open("http://example.com:80/robots-guard/summary.json?window=1h")
	open("http://example.com/robots-guard/api/alerts")
	open("http://example.com/private/dashboard/")
	open("http://www.example.com/") // its other pages do not belong to the dashboard
	counted := func() (requests int) {
		for _, c := range g.shared.Reports(time.Now()).Crawlers(report.Filter{}, 0, 100).Crawlers {
			requests += int(c.Requests)
		}
		return requests
	}
	for _, tc := range []struct {
		userAgent, url string
		counted        int
	}{
		{"bingbot/2.0", "http://example.com/", 1},
		{"HeadlessChrome/140", "http://example.com/robots-guard/", 0},
		{"HeadlessChrome/140", "http://example.com/robots-guard/style.css", 0},
		{"curl/8.7.1", "http://example.com/robots-guard/summary.json", 0},
		{"curl/8.7.1", "http://example.com/robots-guard/api/alerts", 0},
		{"bingbot/2.0", "http://example.com/private/dashboard/x", 1}, // blocked, so it did not read the dashboard
		{"curl/8.7.1", "http://example.com/robots-guard", 1},         // a response of the site
		{"curl/8.7.1", "http://example.com/robots-guard/../x", 1},
		{"curl/8.7.1", "http://example.com/robots-guard/api/../../x", 1},
		{"curl/8.7.1", "http://www.example.com/x", 1},
		{"curl/8.7.1", "http://sub.example.net/robots-guard/", 1},
	} {
		before := counted()
		g.visit(t, tc.userAgent, tc.url, "192.0.2.1")
		if got := counted() - before; got != tc.counted {
			t.Errorf("%s for %s is counted %d times, want %d", tc.userAgent, tc.url, got, tc.counted)
		}
	}
	for i := range 2 * maxOwnPages {
		open(fmt.Sprintf("http://invented%d.test/robots-guard/", i))
	}
	if n := g.shared.own.places.Len(); n != maxOwnPages {
		t.Errorf("%d places are remembered, want %d", n, maxOwnPages)
	}
}

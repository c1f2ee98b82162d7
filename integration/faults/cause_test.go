package faults

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestFaultCauses tests which clients cause a fetch of robots.txt. Browsers never
// do. For libraries the guard fetches in the background. Crawlers wait for the fetch.
func TestFaultCauses(t *testing.T) {
	t.Parallel()
	const robots = "User-agent: curl\nUser-agent: HeadlessChrome\nUser-agent: MyApp\nUser-agent: Slackbot-LinkExpanding\nDisallow: /\n"
	for name, tc := range map[string]struct {
		userAgent string
		reads     bool
		first     int // status of the first request
		next      int
	}{
		"browser":  {harness.Firefox, false, 200, 200},
		"empty":    {"", false, 200, 200},
		"library":  {harness.Curl, true, 200, 403},
		"headless": {harness.Headless, true, 200, 403},
		"other":    {"MyApp/2.1", true, 200, 403},
		"crawler":  {harness.Slack, true, 403, 403},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hold := make(chan struct{})
			o := harness.NewOrigin(t, robots, func(_ http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/robots.txt" && tc.first == 200 {
					<-hold
				}
				return false
			})
			s := harness.Serve(t, proxied, "$TIMEOUT", "40s", "$WAIT", "30s", "$OPTIONS", "", "$ORIGIN", o.Address())
			start := time.Now()
			if a := harness.Get(t, s.URL("/page"), tc.userAgent); a.Status != tc.first {
				t.Errorf("the first request got %d, want %d", a.Status, tc.first)
			}
			if took := time.Since(start); took > 15*time.Second {
				t.Errorf("the first request waited for %s", took)
			}
			close(hold)
			if !tc.reads {
				for range 20 {
					harness.Get(t, s.URL("/page"), tc.userAgent)
				}
				if n := s.Metrics().Sum(harness.FetchesMetric); n != 0 || o.Requests("/robots.txt") != 0 {
					t.Errorf("robots.txt was fetched %v times", n)
				}
				return
			}
			harness.Eventually(t, "requests are judged", func() bool {
				return harness.Get(t, s.URL("/page"), tc.userAgent).Status == tc.next
			})
			if n := o.Requests("/robots.txt"); n != 1 {
				t.Errorf("robots.txt was fetched %d times", n)
			}
		})
	}
}

// TestFaultForeignHeaders checks that the guard's request to the origin contains no
// fields of the client's request.
func TestFaultForeignHeaders(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, harness.ClosedRobots, nil)
	s := harness.Serve(t, `http://a.test:$PORT {
		robots_guard enforce {
			fetch_wait 5s
		}
		reverse_proxy $ORIGIN
	}`, "$ORIGIN", o.Address())
	a := harness.Get(t, s.URL("/private/x?a=b"), harness.Bingbot, harness.Method(http.MethodPost),
		harness.Header("Cookie", "session=1"), harness.Header("Authorization", "Basic eA=="), harness.Header("Range", "bytes=0-1"),
		harness.Header("If-None-Match", "*"), harness.Header("Accept-Encoding", "gzip"), harness.Header("X-Forwarded-For", "192.0.2.1"), harness.Header("X-Evil", "1"))
	if a.Status != 403 {
		t.Fatalf("got %d", a.Status)
	}
	seen := o.Seen()
	if len(seen) != 1 {
		t.Fatalf("the origin got %d requests", len(seen))
	}
	got := seen[0]
	if got.Method != http.MethodGet || got.RequestURI != "/robots.txt" || got.Host != "a.test:"+s.Port {
		t.Errorf("the origin got %s %s for %s", got.Method, got.RequestURI, got.Host)
	}
	for _, name := range []string{"Cookie", "Authorization", "Range", "If-None-Match", "X-Evil"} {
		if got.Header.Get(name) != "" {
			t.Errorf("the origin got the client's %s", name)
		}
	}
	if ua := got.Header.Get("User-Agent"); !strings.HasPrefix(ua, "RobotsGuard/") {
		t.Errorf("the origin got User-Agent %q", ua)
	}
	if from := got.Header.Get("X-Forwarded-For"); from != "192.0.2.1" {
		t.Errorf("the origin got X-Forwarded-For %q", from)
	}
}

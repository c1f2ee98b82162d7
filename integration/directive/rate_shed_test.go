package directive

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestRateShed lets a real site become slow: crawlers that can come later are answered
// 503, others are not, and a reload forgets nothing. Then it is fast again.
func TestRateShed(t *testing.T) {
	t.Parallel()
	var slow atomic.Bool
	o := harness.NewOrigin(t, "User-agent: *\nDisallow: /private/\n", func(_ http.ResponseWriter, r *http.Request) bool {
		if slow.Load() && strings.HasPrefix(r.URL.Path, "/page") {
			time.Sleep(100 * time.Millisecond)
		}
		return false
	})
	s := harness.ServeReloadable(t, o)
	config := strings.Replace(s.Named("shed", ""), "robots_guard enforce", `robots_guard enforce {
		rate enforce {
			shed {
				when latency_p95 > 60ms for 5s
				resume below 60ms for 5s
			}
		}
	}`, 1)
	s.MustLoad(config)
	s.Warm("/")
	const shedding = `caddy_robots_guard_shedding{host="a.test"}`
	stop := make(chan struct{})
	var people sync.WaitGroup
	for range 4 { // so that single slow ones of a loaded machine are no 5 %
		people.Go(func() { // ends with stop
			for {
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
				}
				if response, err := harness.Client.Do(byFirefox(t, s.URL("/page"))); err == nil {
					_, _ = io.Copy(io.Discard, response.Body)
					_ = response.Body.Close()
				}
			}
		})
	}
	slow.Store(true)
	harness.Eventually(t, "the site is under load", func() bool { return s.Metrics()[shedding] == 1 })
	look := func(when string) {
		t.Helper()
		for _, tc := range []struct {
			userAgent, path string
			status          int
		}{
			{harness.GPTBot, "/page", 503}, {"AhrefsBot/7.0", "/", 503}, {harness.GPTBot, "/private/", 403},
			{harness.GPTBot, "/robots.txt", 200}, {harness.GPTBot, "/sitemap.xml", 200}, {harness.GPTBot, "/.well-known/x", 200},
			{harness.Bingbot, "/page", 200}, {"ChatGPT-User/1.0", "/page", 200}, {"UptimeRobot/2.0", "/page", 200}, {harness.Firefox, "/page", 200},
		} {
			a := harness.Get(t, s.URL(tc.path), tc.userAgent)
			if a.Status != tc.status {
				t.Errorf("%s: %s at %s gets %d, want %d", when, tc.userAgent, tc.path, a.Status, tc.status)
			}
			if a.Status == 503 && (a.Header.Get("Retry-After") == "" || a.Header.Get("Cache-Control") != "no-store") {
				t.Errorf("%s: %v", when, a.Header)
			}
		}
	}
	look("under load")
	s.MustLoad(strings.Replace(config, "X-Config", "X-Other", 1))
	look("after a reload")
	slow.Store(false)
	close(stop)
	people.Wait() // nobody asks for anything any more
	harness.Eventually(t, "the load is over", func() bool { return s.Metrics()[shedding] == 0 })
	if a := harness.Get(t, s.URL("/page"), harness.GPTBot); a.Status != http.StatusOK {
		t.Errorf("afterwards it gets %d", a.Status)
	}
	s.Await("a site is under load: crawlers are answered 503 until that is over", 1)
	s.Await("a site is no longer under load, and crawlers are let in again", 1)
	if n := s.Metrics().Sum(`caddy_robots_guard_rate_requests_total{class="ai_training",rate="shed"}`); n != 2 {
		t.Errorf("%v requests are counted as shed, want 2", n)
	}
}

func byFirefox(t *testing.T, url string) *http.Request {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Error(err)
	}
	r.Header.Set("User-Agent", harness.Firefox)
	return r
}

package faults

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// proxied is a site whose origin may be ill. What the guard's own request does
// there must not make Caddy think that the origin is down.
const proxied = `http://a.test:$PORT {
	robots_guard enforce {
		fetch_timeout $TIMEOUT
		fetch_wait $WAIT
		$OPTIONS
	}
	header >X-Verdict {http.robots_guard.verdict}
	reverse_proxy $ORIGIN {
		fail_duration 1h
		max_fails 1
		unhealthy_status 5xx
		unhealthy_latency 20s
	}
}`

// ill answers requests for robots.txt in ways that an ill origin does.
var ill = map[string]func(http.ResponseWriter, *http.Request){
	"hangs before the header": func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
	},
	"hangs in the body": func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "User-agent: *\nDisallow: /")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	},
	"dribbles": func(w http.ResponseWriter, r *http.Request) {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for _, c := range strings.Repeat("User-agent: *\nDisallow: /\n", 1000) {
			fmt.Fprintf(w, "%c", c)
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-tick.C:
			}
		}
	},
	"aborts in the body": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "User-agent: *\nDisallow: /\n")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	},
	"aborts a chunked body": func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "User-agent: *\nDisallow: /\n")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	},
}

// TestFaults lets the origin's robots.txt fail. Browsers are not delayed, a
// crawler waits for fetch_wait at most and passes, and the site stays up.
func TestFaults(t *testing.T) {
	t.Parallel()
	const timeout, wait = 12 * time.Second, 300 * time.Millisecond
	for name, answer := range ill {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := harness.NewOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/robots.txt" {
					return false
				}
				answer(w, r)
				return true
			})
			s := harness.Serve(t, proxied, "$TIMEOUT", timeout.String(), "$WAIT", wait.String(), "$OPTIONS", "", "$ORIGIN", o.Address())

			var crawlers sync.WaitGroup
			for range 5 {
				crawlers.Go(func() {
					start := time.Now()
					a, err := harness.Try(harness.Client, s.URL("/page"), harness.Bingbot)
					if err != nil {
						t.Error(err)
						return
					}
					if took := time.Since(start); took > wait+timeout/2 {
						t.Errorf("a crawler waited for %s", took)
					}
					if a.Status != 200 || a.Header.Get("X-Verdict") != "unknown" {
						t.Errorf("a crawler got %d, verdict %q", a.Status, a.Header.Get("X-Verdict"))
					}
				})
			}
			browse := func() {
				start := time.Now()
				a := harness.Get(t, s.URL("/page"), harness.Firefox)
				if took := time.Since(start); took > timeout/2 {
					t.Errorf("a browser waited for %s", took)
				}
				if a.Status != 200 || a.Body != "origin /page" {
					t.Fatalf("a browser got %d %q", a.Status, a.Body)
				}
			}
			for range 20 {
				browse()
			}
			crawlers.Wait()
			// However the guard's request ends, the proxy goes on using the origin.
			harness.Eventually(t, "the attempt has ended", func() bool {
				return s.Metrics().Sum(harness.FetchesMetric, `result="unreachable"`) >= 1
			})
			browse()
			if a := harness.Get(t, s.URL("/page"), harness.Bingbot); a.Status != 200 {
				t.Errorf("a crawler got %d after the attempt", a.Status)
			}
			browse()
		})
	}
}

// TestFaultOriginCloses has an origin that closes the connection instead of an
// answer. Without passive health checks nothing but robots.txt is affected.
func TestFaultOriginCloses(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/robots.txt" {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_ = conn.Close()
			}
			return true
		}
		return false
	})
	s := harness.Serve(t, `http://a.test:$PORT {
		robots_guard enforce
		reverse_proxy $ORIGIN
	}`, "$ORIGIN", o.Address())
	harness.Visits(t, s, []harness.Visit{
		{harness.Bingbot, "/x", 200, "origin /x"},
		{harness.Firefox, "/x", 200, "origin /x"},
		{harness.Bingbot, "/x", 200, "origin /x"},
	})
	if n := s.Metrics().Sum(harness.FetchesMetric, `result="unreachable"`); n < 1 {
		t.Errorf("%v attempts counted as unreachable", n)
	}
}

// TestFaultEndless has a robots.txt without end: its beginning holds.
func TestFaultEndless(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{}, 10)
	o := harness.NewOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/robots.txt" {
			return false
		}
		defer func() { ended <- struct{}{} }()
		fmt.Fprint(w, harness.ClosedRobots)
		for r.Context().Err() == nil {
			if _, err := fmt.Fprint(w, strings.Repeat("Disallow: /endless\n", 1000)); err != nil {
				break
			}
		}
		return true
	})
	s := harness.Serve(t, proxied, "$TIMEOUT", "20s", "$WAIT", "10s", "$OPTIONS", "", "$ORIGIN", o.Address())
	harness.Visits(t, s, []harness.Visit{
		{harness.GPTBot, "/endless", 403, "Disallow: /endless"},
		{harness.Bingbot, "/private/x", 403, ""},
		{harness.Bingbot, "/x", 200, "origin /x"},
		{harness.Firefox, "/endless", 200, "origin"},
	})
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the origin still writes: the request was not ended")
	}
}

// TestFaultUnreachable has the choices for a robots.txt that was never read.
func TestFaultUnreachable(t *testing.T) {
	t.Parallel()
	for _, choice := range []string{"last_good", "allow", "disallow"} {
		t.Run(choice, func(t *testing.T) {
			t.Parallel()
			var well atomic.Bool
			o := harness.NewOrigin(t, harness.ClosedRobots, func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/robots.txt" && !well.Load() {
					w.WriteHeader(http.StatusInternalServerError)
					return true
				}
				return false
			})
			s := harness.Serve(t, `http://a.test:$PORT {
				robots_guard enforce {
					unreachable $CHOICE
					fetch_wait 4s
				}
				reverse_proxy $ORIGIN
			}`, "$CHOICE", choice, "$ORIGIN", o.Address())
			if choice == "disallow" {
				a := harness.Get(t, s.URL("/page"), harness.Bingbot)
				if a.Status != 503 || a.Header.Get("Retry-After") == "" || a.Header.Get("Cache-Control") != "no-store" ||
					!strings.Contains(a.Body, "cannot be read") {
					t.Errorf("got %d %v %q", a.Status, a.Header, a.Body)
				}
				if n := s.Metrics().Sum(harness.RequestsMetric, `verdict="unknown"`, `action="blocked"`); n != 1 {
					t.Errorf("%v requests counted as unknown and blocked, want 1", n)
				}
				if lines := s.Await("request while robots.txt cannot be read", 1); len(lines) != 1 {
					t.Errorf("%d lines in the log, want 1", len(lines))
				}
			} else if a := harness.Get(t, s.URL("/page"), harness.Bingbot); a.Status != 200 {
				t.Errorf("got %d", a.Status)
			}
			harness.Visits(t, s, []harness.Visit{
				{harness.Firefox, "/page", 200, "origin"},
				{"", "/page", 200, "origin"},
				{harness.Curl, "/page", 200, "origin"},
				{harness.UptimeRobot, "/page", 200, "origin"},
				{harness.GPTBot, "/robots.txt", 500, ""}, // passed on
			})
			// It is tried again soon, and what is read then holds.
			well.Store(true)
			harness.Eventually(t, "the site is judged by its robots.txt", func() bool {
				return harness.Get(t, s.URL("/private/x"), harness.Bingbot).Status == 403
			})
			harness.Visits(t, s, []harness.Visit{{harness.Bingbot, "/page", 200, "origin"}})
			if lines := s.Await("robots.txt can be read again", 1); len(lines) != 1 {
				t.Errorf("%d lines about the recovery, want 1", len(lines))
			}
		})
	}
}

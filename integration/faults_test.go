package integration

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
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
			o := newOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/robots.txt" {
					return false
				}
				answer(w, r)
				return true
			})
			s := serve(t, proxied, "$TIMEOUT", timeout.String(), "$WAIT", wait.String(), "$OPTIONS", "", "$ORIGIN", o.address())

			var crawlers sync.WaitGroup
			for range 5 {
				crawlers.Go(func() {
					start := time.Now()
					a, err := try(client, s.url("/page"), bingbot)
					if err != nil {
						t.Error(err)
						return
					}
					if took := time.Since(start); took > wait+timeout/2 {
						t.Errorf("a crawler waited for %s", took)
					}
					if a.status != 200 || a.header.Get("X-Verdict") != "unknown" {
						t.Errorf("a crawler got %d, verdict %q", a.status, a.header.Get("X-Verdict"))
					}
				})
			}
			browse := func() {
				start := time.Now()
				a := get(t, s.url("/page"), firefox)
				if took := time.Since(start); took > timeout/2 {
					t.Errorf("a browser waited for %s", took)
				}
				if a.status != 200 || a.body != "origin /page" {
					t.Fatalf("a browser got %d %q", a.status, a.body)
				}
			}
			for range 20 {
				browse()
			}
			crawlers.Wait()
			// However the guard's request ends, the proxy goes on using the origin.
			eventually(t, "the attempt has ended", func() bool {
				return s.metrics().sum(fetchesMetric, `result="unreachable"`) >= 1
			})
			browse()
			if a := get(t, s.url("/page"), bingbot); a.status != 200 {
				t.Errorf("a crawler got %d after the attempt", a.status)
			}
			browse()
		})
	}
}

// TestFaultOriginCloses has an origin that closes the connection instead of an
// answer. Without passive health checks nothing but robots.txt is affected.
func TestFaultOriginCloses(t *testing.T) {
	t.Parallel()
	o := newOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/robots.txt" {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_ = conn.Close()
			}
			return true
		}
		return false
	})
	s := serve(t, `http://a.test:$PORT {
		robots_guard enforce
		reverse_proxy $ORIGIN
	}`, "$ORIGIN", o.address())
	visits(t, s, []visit{
		{bingbot, "/x", 200, "origin /x"},
		{firefox, "/x", 200, "origin /x"},
		{bingbot, "/x", 200, "origin /x"},
	})
	if n := s.metrics().sum(fetchesMetric, `result="unreachable"`); n < 1 {
		t.Errorf("%v attempts counted as unreachable", n)
	}
}

// TestFaultEndless has a robots.txt without end: its beginning holds.
func TestFaultEndless(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{}, 10)
	o := newOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/robots.txt" {
			return false
		}
		defer func() { ended <- struct{}{} }()
		fmt.Fprint(w, closedRobots)
		for r.Context().Err() == nil {
			if _, err := fmt.Fprint(w, strings.Repeat("Disallow: /endless\n", 1000)); err != nil {
				break
			}
		}
		return true
	})
	s := serve(t, proxied, "$TIMEOUT", "20s", "$WAIT", "10s", "$OPTIONS", "", "$ORIGIN", o.address())
	visits(t, s, []visit{
		{gptBot, "/endless", 403, "Disallow: /endless"},
		{bingbot, "/private/x", 403, ""},
		{bingbot, "/x", 200, "origin /x"},
		{firefox, "/endless", 200, "origin"},
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
			o := newOrigin(t, closedRobots, func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/robots.txt" && !well.Load() {
					w.WriteHeader(http.StatusInternalServerError)
					return true
				}
				return false
			})
			s := serve(t, `http://a.test:$PORT {
				robots_guard enforce {
					unreachable $CHOICE
					fetch_wait 4s
				}
				reverse_proxy $ORIGIN
			}`, "$CHOICE", choice, "$ORIGIN", o.address())
			if choice == "disallow" {
				a := get(t, s.url("/page"), bingbot)
				if a.status != 503 || a.header.Get("Retry-After") == "" || a.header.Get("Cache-Control") != "no-store" ||
					!strings.Contains(a.body, "cannot be read") {
					t.Errorf("got %d %v %q", a.status, a.header, a.body)
				}
				if n := s.metrics().sum(requestsMetric, `verdict="unknown"`, `action="blocked"`); n != 1 {
					t.Errorf("%v requests counted as unknown and blocked, want 1", n)
				}
				if lines := s.await("request while robots.txt cannot be read", 1); len(lines) != 1 {
					t.Errorf("%d lines in the log, want 1", len(lines))
				}
			} else if a := get(t, s.url("/page"), bingbot); a.status != 200 {
				t.Errorf("got %d", a.status)
			}
			visits(t, s, []visit{
				{firefox, "/page", 200, "origin"},
				{"", "/page", 200, "origin"},
				{curl, "/page", 200, "origin"},
				{uptimeRobot, "/page", 200, "origin"},
				{gptBot, "/robots.txt", 500, ""}, // passed on
			})
			// It is tried again soon, and what is read then holds.
			well.Store(true)
			eventually(t, "the site is judged by its robots.txt", func() bool {
				return get(t, s.url("/private/x"), bingbot).status == 403
			})
			visits(t, s, []visit{{bingbot, "/page", 200, "origin"}})
			if lines := s.await("robots.txt can be read again", 1); len(lines) != 1 {
				t.Errorf("%d lines about the recovery, want 1", len(lines))
			}
		})
	}
}

// TestFaultWhoCauses tells who makes the guard read the robots.txt: browsers
// never, libraries and the like in the background, crawlers while they wait.
func TestFaultWhoCauses(t *testing.T) {
	t.Parallel()
	const robots = "User-agent: curl\nUser-agent: HeadlessChrome\nUser-agent: MyApp\nUser-agent: Slackbot-LinkExpanding\nDisallow: /\n"
	for name, tc := range map[string]struct {
		userAgent string
		reads     bool
		first     int // the status of the very first request
		next      int
	}{
		"browser":  {firefox, false, 200, 200},
		"empty":    {"", false, 200, 200},
		"library":  {curl, true, 200, 403},
		"headless": {headless, true, 200, 403},
		"other":    {"MyApp/2.1", true, 200, 403},
		"crawler":  {slack, true, 403, 403},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hold := make(chan struct{})
			o := newOrigin(t, robots, func(_ http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/robots.txt" && tc.first == 200 {
					<-hold
				}
				return false
			})
			s := serve(t, proxied, "$TIMEOUT", "40s", "$WAIT", "30s", "$OPTIONS", "", "$ORIGIN", o.address())
			start := time.Now()
			if a := get(t, s.url("/page"), tc.userAgent); a.status != tc.first {
				t.Errorf("the first request got %d, want %d", a.status, tc.first)
			}
			if took := time.Since(start); took > 15*time.Second {
				t.Errorf("the first request waited for %s", took)
			}
			close(hold)
			if !tc.reads {
				for range 20 {
					get(t, s.url("/page"), tc.userAgent)
				}
				if n := s.metrics().sum(fetchesMetric); n != 0 || o.requests("/robots.txt") != 0 {
					t.Errorf("the robots.txt was read %v times", n)
				}
				return
			}
			eventually(t, "requests are judged", func() bool {
				return get(t, s.url("/page"), tc.userAgent).status == tc.next
			})
			if n := o.requests("/robots.txt"); n != 1 {
				t.Errorf("the robots.txt was read %d times", n)
			}
		})
	}
}

// TestFaultForeignHeaders looks at the request that the origin gets from the
// guard: nothing in it is the client's.
func TestFaultForeignHeaders(t *testing.T) {
	t.Parallel()
	o := newOrigin(t, closedRobots, nil)
	s := serve(t, `http://a.test:$PORT {
		robots_guard enforce
		reverse_proxy $ORIGIN
	}`, "$ORIGIN", o.address())
	a := get(t, s.url("/private/x?a=b"), bingbot, method(http.MethodPost),
		header("Cookie", "session=1"), header("Authorization", "Basic eA=="), header("Range", "bytes=0-1"),
		header("If-None-Match", "*"), header("Accept-Encoding", "gzip"), header("X-Forwarded-For", "192.0.2.1"), header("X-Evil", "1"))
	if a.status != 403 {
		t.Fatalf("got %d", a.status)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.seen) != 1 {
		t.Fatalf("the origin got %d requests", len(o.seen))
	}
	got := o.seen[0]
	if got.Method != http.MethodGet || got.RequestURI != "/robots.txt" || got.Host != "a.test:"+s.port {
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
	if from := got.Header.Get("X-Forwarded-For"); from != "127.0.0.1" {
		t.Errorf("the origin got X-Forwarded-For %q", from)
	}
}

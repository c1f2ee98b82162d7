package sites

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// inventors is the number of connections of a client that sends requests for unknown
// hosts.
const inventors = 16

// inventedHosts is the number of these hosts.
var inventedHosts = map[bool]int{false: 10_000, true: 100_000}[harness.Long()]

// TestUnknownHosts sends requests for many unknown hosts to a catch-all site next to a
// named site, as a crawler for which the guard fetches robots.txt. Memory and fetches
// for the unknown hosts are bounded, even while their robots.txt requests hang. The
// named site keeps its cached copy.
func TestUnknownHosts(t *testing.T) {
	t.Parallel()
	var running, most atomic.Int64
	hang := make(chan struct{})
	invented := harness.NewOrigin(t, harness.ClosedRobots, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/robots.txt" {
			for n := running.Add(1); ; {
				if old := most.Load(); n <= old || most.CompareAndSwap(old, n) {
					break
				}
			}
			defer running.Add(-1)
			select {
			case <-hang:
			case <-r.Context().Done():
			}
		}
		return false
	})
	own := harness.NewOrigin(t, harness.ClosedRobots, nil)
	s := harness.Serve(t, `http://a.test:$PORT {
		robots_guard enforce {
			fetch_timeout 20s
			fetch_wait 20s
		}
		reverse_proxy $REAL
	}
	http://:$PORT {
		robots_guard enforce {
			fetch_timeout 10m
			fetch_wait 1ms
		}
		handle /robots.txt {
			reverse_proxy $ORIGIN
		}
		respond "page"
	}`, "$ORIGIN", invented.Address(), "$REAL", own.Address())
	s.Warm("/")
	judged := func(when string) {
		t.Helper()
		for _, v := range []harness.Visit{
			{harness.Bingbot, "/private/x", 403, "Disallow: /private/"},
			{harness.GPTBot, "/page", 403, "GPTBot"},
			{harness.Bingbot, "/page", 200, "origin"},
			{harness.Firefox, "/private/x", 200, "origin"},
		} {
			if a := harness.Get(t, s.URL(v.Path), v.UserAgent); a.Status != v.Status || !strings.Contains(a.Body, v.Body) {
				t.Errorf("%s %s as %q got %d %q", when, v.Path, v.UserAgent, a.Status, a.Body)
			}
		}
	}
	var stop atomic.Bool
	var others, all sync.WaitGroup
	others.Go(func() {
		for !stop.Load() {
			judged("meanwhile")
			time.Sleep(20 * time.Millisecond)
		}
	})
	for part := range inventors {
		all.Go(func() { invent(t, s, part*inventedHosts/inventors, (part+1)*inventedHosts/inventors) })
	}
	all.Wait()
	stop.Store(true)
	others.Wait()
	judged("afterwards")

	m := s.Metrics()
	if n := m.Sum(harness.RequestsMetric, `host="_other"`, `verdict="unknown"`); n != float64(inventedHosts) {
		t.Errorf("%v requests counted, want %d", n, inventedHosts)
	}
	if n := most.Load(); n < 1 || n > 8 {
		t.Errorf("%d concurrent fetches, want at most 8", n)
	}
	if n := m.Sum("caddy_robots_guard_policies_cached", "invented"); n > 1000 {
		t.Errorf("%v sites are cached, want at most 1000", n)
	}
	if n := own.Requests("/robots.txt"); n != 1 {
		t.Errorf("robots.txt of the named site was fetched %d times", n)
	}
	if n := m.Sum("go_goroutines"); n > 500 {
		t.Errorf("%v goroutines", n)
	}
	close(hang)

	// Now robots.txt is available at once, and each fetch belongs to a request.
	before := s.Metrics().Sum(harness.FetchesMetric)
	invent(t, s, inventedHosts, inventedHosts+3000)
	judged("after more of them")
	harness.Eventually(t, "the fetches have ended", func() bool { return running.Load() == 0 })
	if n := s.Metrics().Sum(harness.FetchesMetric) - before; n > 3000+8 {
		t.Errorf("%v fetches for 3000 hosts", n)
	}
	if n := s.Metrics().Sum("caddy_robots_guard_policies_cached", "invented"); n > 1000 {
		t.Errorf("%v sites are cached, want at most 1000", n)
	}
	if n := own.Requests("/robots.txt"); n != 1 {
		t.Errorf("robots.txt of the named site was fetched %d times", n)
	}
	s.Kill()
	if most, ok := harness.MaxRSS(s.State()); ok && most > 400<<20 {
		t.Errorf("the server used %d MB", most>>20)
	} else {
		t.Logf("the server used %d MB", most>>20)
	}
}

// invent requests a page of each host in a range of numbers. It pipelines the requests.
func invent(t *testing.T, s *harness.Server, from, to int) {
	conn, err := net.Dial("tcp", "127.0.0.1:"+s.Port)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(4 * harness.Patience))
	answers := bufio.NewReader(conn)
	for at := from; at < to; {
		var requests strings.Builder
		until := min(at+50, to)
		for i := at; i < until; i++ {
			fmt.Fprintf(&requests, "GET /private/x HTTP/1.1\r\nHost: h%d.invented.test:%s\r\nUser-Agent: %s\r\n\r\n", i, s.Port, harness.Bingbot)
		}
		if _, err := io.WriteString(conn, requests.String()); err != nil {
			t.Error(err)
			return
		}
		for ; at < until; at++ {
			response, err := http.ReadResponse(answers, nil)
			if err != nil {
				t.Errorf("host %d: %v", at, err)
				return
			}
			_, _ = io.Copy(io.Discard, response.Body)
			if from < inventedHosts && response.StatusCode != http.StatusOK {
				t.Errorf("host %d: got %d", at, response.StatusCode)
				return
			}
		}
	}
}

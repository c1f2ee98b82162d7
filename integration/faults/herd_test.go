package faults

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// herd is the number of concurrent requests of crawlers. They share a few connections,
// so that the test does not need 2,000 open files.
const herd, herdConnections = 2000, 20

// newHerd returns clients that each have an open HTTP/2 connection. A browser's request
// opened it, so that the guard has not fetched robots.txt.
func newHerd(t *testing.T, s *harness.Server) []*http.Client {
	t.Helper()
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	clients := make([]*http.Client, herdConnections)
	for i := range clients {
		clients[i] = harness.NewClient(false)
		clients[i].Timeout = 2 * harness.Patience
		transport := clients[i].Transport.(*http.Transport)
		transport.DisableKeepAlives, transport.Protocols = false, &protocols
		t.Cleanup(transport.CloseIdleConnections)
		a, err := harness.Try(clients[i], s.URL("/page"), harness.Firefox)
		if err != nil || a.Status != 200 || a.Proto != "HTTP/2.0" {
			t.Fatalf("got %d by %s: %v", a.Status, a.Proto, err)
		}
	}
	return clients
}

// stampede sends all requests, which the guard must block. It returns a function that
// waits for the responses.
func stampede(t *testing.T, s *harness.Server, clients []*http.Client) (wait func()) {
	var all sync.WaitGroup
	for i := range herd {
		all.Go(func() {
			a, err := harness.Try(clients[i%len(clients)], s.URL("/private/x"), harness.Bingbot)
			if err != nil || a.Status != http.StatusForbidden || a.Header.Get("X-Verdict") != "disallowed" {
				t.Errorf("got %d, verdict %q, %v", a.Status, a.Header.Get("X-Verdict"), err)
			}
		})
	}
	return all.Wait
}

// herded is the site for the requests. Caddy itself responds with its pages.
const herded = `http://a.test:$PORT {
	robots_guard enforce {
		fetch_timeout 10m
		fetch_wait 5m
	}
	header >X-Verdict {http.robots_guard.verdict}
	handle /robots.txt {
		reverse_proxy $ORIGIN
	}
	respond "page"
}`

// herdGlobals enable HTTP/2 and count requests in flight.
const herdGlobals = "metrics\nservers {\n protocols h1 h2c\n }"

// TestFaultHerd sends concurrent requests of crawlers to a site whose robots.txt is not
// cached. The guard fetches it once and applies it to all requests.
func TestFaultHerd(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	o := harness.NewOrigin(t, harness.ClosedRobots, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/robots.txt" {
			<-arrived
		}
		return false
	})
	release := sync.OnceFunc(func() { close(arrived) })
	t.Cleanup(release)
	s := harness.Serve(t, herded, "$ORIGIN", o.Address(), "$GLOBAL", herdGlobals)
	wait := stampede(t, s, newHerd(t, s))
	harness.Eventually(t, "all of them wait", func() bool {
		time.Sleep(50 * time.Millisecond)                                                    // the metrics are long
		return s.Metrics().Sum("caddy_http_requests_in_flight", `handler="subroute"`) > herd // includes the request for the metrics
	})
	release()
	wait()
	if n := o.Requests("/robots.txt"); n != 1 {
		t.Errorf("robots.txt was fetched %d times", n)
	}
	m := s.Metrics()
	if all, good := m.Sum(harness.FetchesMetric), m.Sum(harness.FetchesMetric, `result="rules"`); all != 1 || good != 1 {
		t.Errorf("%v fetches counted, %v of them with rules", all, good)
	}
	if n := m.Sum(harness.RequestsMetric, `verdict="disallowed"`, `action="blocked"`); n != herd {
		t.Errorf("%v requests counted as blocked, want %d", n, herd)
	}
}

package integration

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"
)

// herd is how many crawlers come at once, each with a request of its own. They
// share a few connections, so that nobody needs 2,000 open files.
const herd, herdConnections = 2000, 20

// newHerd returns clients that speak HTTP/2 over one connection each, which is
// there already. A browser has opened it, so that nothing was read.
func newHerd(t *testing.T, s *server) []*http.Client {
	t.Helper()
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	clients := make([]*http.Client, herdConnections)
	for i := range clients {
		clients[i] = newClient(false)
		clients[i].Timeout = 2 * patience
		transport := clients[i].Transport.(*http.Transport)
		transport.DisableKeepAlives, transport.Protocols = false, &protocols
		t.Cleanup(transport.CloseIdleConnections)
		a, err := try(clients[i], s.url("/page"), firefox)
		if err != nil || a.status != 200 || a.proto != "HTTP/2.0" {
			t.Fatalf("got %d by %s: %v", a.status, a.proto, err)
		}
	}
	return clients
}

// stampede sends the whole herd and returns a function that waits for the
// answers.
func stampede(t *testing.T, s *server, clients []*http.Client, status int, verdict string) (wait func()) {
	var all sync.WaitGroup
	for i := range herd {
		all.Go(func() {
			a, err := try(clients[i%len(clients)], s.url("/private/x"), bingbot)
			if err != nil || a.status != status || a.header.Get("X-Verdict") != verdict {
				t.Errorf("got %d, verdict %q, %v", a.status, a.header.Get("X-Verdict"), err)
			}
		})
	}
	return all.Wait
}

// herded is the site that the herd comes to. Its pages are no load for an
// upstream.
const herded = `http://a.test:$PORT {
	robots_guard enforce {
		fetch_timeout 10m
		fetch_wait $WAIT
	}
	header >X-Verdict {http.robots_guard.verdict}
	handle /robots.txt {
		reverse_proxy $ORIGIN
	}
	respond "page"
}`

// herdGlobals let clients come by HTTP/2 and count requests that are under way.
const herdGlobals = "metrics\nservers {\n protocols h1 h2c\n }"

// TestFaultHerd sends a herd of crawlers to a site whose robots.txt nobody has
// read yet. It is read once, and all of them are judged by it.
func TestFaultHerd(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	o := newOrigin(t, closedRobots, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/robots.txt" {
			<-arrived
		}
		return false
	})
	release := sync.OnceFunc(func() { close(arrived) })
	t.Cleanup(release)
	s := serve(t, herded, "$WAIT", "5m", "$ORIGIN", o.address(), "$GLOBAL", herdGlobals)
	wait := stampede(t, s, newHerd(t, s), http.StatusForbidden, "disallowed")
	eventually(t, "all of them wait", func() bool {
		time.Sleep(50 * time.Millisecond)                                                    // the metrics are long
		return s.metrics().sum("caddy_http_requests_in_flight", `handler="subroute"`) > herd // the one for the metrics, too
	})
	release()
	wait()
	herdRead(t, s, o, "rules")
	if n := s.metrics().sum(requestsMetric, `verdict="disallowed"`, `action="blocked"`); n != herd {
		t.Errorf("%v requests counted as blocked, want %d", n, herd)
	}
}

// TestFaultHerdHangs sends a herd of crawlers to a site whose robots.txt never
// comes. All of them are answered, though the attempt to read it does not end:
// they wait for fetch_wait, and for nothing else.
func TestFaultHerdHangs(t *testing.T) {
	t.Parallel()
	answered := make(chan struct{})
	o := newOrigin(t, closedRobots, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/robots.txt" {
			<-answered
		}
		return false
	})
	release := sync.OnceFunc(func() { close(answered) })
	t.Cleanup(release)
	s := serve(t, herded, "$WAIT", "250ms", "$ORIGIN", o.address(), "$GLOBAL", herdGlobals)
	stampede(t, s, newHerd(t, s), http.StatusOK, "unknown")()
	m := s.metrics()
	if n := m.sum(fetchesMetric); n != 0 {
		t.Errorf("%v attempts have ended", n)
	}
	if n := m.sum(requestsMetric, `verdict="unknown"`, `action="none"`); n != herd {
		t.Errorf("%v requests counted as unknown, want %d", n, herd)
	}
	visits(t, s, []visit{{firefox, "/private/x", 200, "page"}})
	release()
	eventually(t, "what was read holds", func() bool { return get(t, s.url("/private/x"), bingbot).status == 403 })
	herdRead(t, s, o, "rules")
}

// herdRead checks that the robots.txt was read once, by what the origin has seen
// and by what the server says.
func herdRead(t *testing.T, s *server, o *origin, result string) {
	t.Helper()
	if n := o.requests("/robots.txt"); n != 1 {
		t.Errorf("the robots.txt was read %d times", n)
	}
	m := s.metrics()
	if all, good := m.sum(fetchesMetric), m.sum(fetchesMetric, fmt.Sprintf("result=%q", result)); all != 1 || good != 1 {
		t.Errorf("%v attempts counted, %v of them as %s", all, good, result)
	}
}

package faults

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// unreached is a site with different upstreams for pages and robots.txt.
const unreached = `http://a.test:$PORT {
	robots_guard enforce {
		fetch_timeout 2s
		fetch_wait 2s
	}
	header >X-Verdict {http.robots_guard.verdict}
	handle /robots.txt {
		reverse_proxy $ORIGIN {
			fail_duration 1h
			max_fails 1
		}
	}
	respond "page"
}`

// TestFaultUnreached tests an upstream that is unreachable while the guard fetches
// robots.txt. The proxy uses the upstream again as soon as it is back.
func TestFaultUnreached(t *testing.T) {
	t.Parallel()
	for name, listens := range map[string]bool{"refuses": false, "hangs before it accepts": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := "127.0.0.1:" + harness.FreePort(t)
			var l net.Listener
			listen := func() {
				var err error
				if l, err = net.Listen("tcp", address); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = l.Close() })
			}
			if listens {
				listen()
			}
			s := harness.Serve(t, unreached, "$ORIGIN", address)
			if a := harness.Get(t, s.URL("/private/x"), harness.Bingbot); a.Status != 200 || a.Header.Get("X-Verdict") != unknown {
				t.Errorf("a crawler got %d, verdict %q", a.Status, a.Header.Get("X-Verdict"))
			}
			harness.Visits(t, s, []harness.Visit{{harness.Firefox, "/private/x", 200, "page"}})
			harness.Eventually(t, "the attempt has ended", func() bool {
				return s.Metrics().Sum(harness.FetchesMetric, `result="unreachable"`) >= 1
			})
			if !listens {
				listen()
			}
			o := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, harness.ClosedRobots) })}
			go func() { _ = o.Serve(l) }()
			t.Cleanup(func() { _ = o.Close() })
			harness.Visits(t, s, []harness.Visit{{harness.Firefox, "/robots.txt", 200, "User-agent"}})
			harness.Eventually(t, "the robots.txt is read", func() bool { return harness.Get(t, s.URL("/private/x"), harness.Bingbot).Status == 403 })
		})
	}
}

// TestFaultOneOfTwo tests a proxy that tries a second upstream if the first is
// unreachable. The guard then fetches robots.txt from the second.
func TestFaultOneOfTwo(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, harness.ClosedRobots, nil)
	s := harness.Serve(t, `http://a.test:$PORT {
		robots_guard enforce {
			fetch_timeout 20s
			fetch_wait 20s
		}
		reverse_proxy 127.0.0.1:$DEAD $ORIGIN {
			lb_policy first
			lb_retries 1
			fail_duration 1h
		}
	}`, "$DEAD", harness.FreePort(t), "$ORIGIN", o.Address())
	harness.Visits(t, s, []harness.Visit{
		{harness.Bingbot, "/private/x", 403, ""},
		{harness.Firefox, "/private/x", 200, "origin"},
	})
}

// TestFaultSlow tests a robots.txt that takes longer than the proxy's latency limit.
// The guard uses it, and the upstream stays available.
func TestFaultSlow(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]string{"unhealthy_latency": "unhealthy_latency 1s", "response_header_timeout": "transport http {\n response_header_timeout 1s\n }"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := harness.NewOrigin(t, harness.ClosedRobots, func(_ http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/robots.txt" {
					time.Sleep(1200 * time.Millisecond)
				}
				return false
			})
			s := harness.Serve(t, `http://a.test:$PORT {
				robots_guard enforce {
					fetch_timeout 40s
					fetch_wait 40s
				}
				handle /robots.txt {
					reverse_proxy $ORIGIN {
						fail_duration 1h
						$LIMIT
					}
				}
				handle {
					reverse_proxy $ORIGIN {
						fail_duration 1h
					}
				}
			}`, "$ORIGIN", o.Address(), "$LIMIT", limit)
			status := http.StatusForbidden
			if name == "response_header_timeout" {
				status = http.StatusOK // the request got no response
			}
			if a := harness.Get(t, s.URL("/private/x"), harness.Bingbot); a.Status != status {
				t.Errorf("a crawler got %d, want %d", a.Status, status)
			}
			harness.Visits(t, s, []harness.Visit{{harness.Firefox, "/private/x", 200, "origin"}})
		})
	}
}

// TestFaultRedirectsElsewhere tests a robots.txt that redirects from server to server.
// The guard follows five redirects.
func TestFaultRedirectsElsewhere(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		servers int
		private string // allow_private of the guard
		asked   int64
		verdict string
	}{
		{"a loop through a second server", 2, "on", 2, free},
		{"a different server each time", 9, "on", 6, free},
		{"a private address", 2, "off", 1, unknown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			addresses := make([]string, tc.servers)
			var first *rawOrigin
			var from atomic.Value // address of the first server in redirects
			for i := range addresses {
				o := newRawOrigin(t, func(o *rawOrigin, conn *net.TCPConn, r *http.Request) {
					asked.Add(1)
					next := (i + 1) % len(addresses)
					host := addresses[next]
					if next == 0 {
						host = from.Load().(string)
					}
					says(leadsTo("http://"+host+"/robots.txt"))(o, conn, r)
				})
				if addresses[i] = o.address(); i == 0 {
					first = o
				}
			}
			s := harness.Serve(t, `http://127.0.0.1:$PORT {
				robots_guard enforce {
					fetch_timeout 20s
					fetch_wait 20s
					allow_private $PRIVATE
				}
				header >X-Verdict {http.robots_guard.verdict}
				reverse_proxy $ORIGIN {
					fail_duration 1h
				}
			}`, "$ORIGIN", first.address(), "$PRIVATE", tc.private)
			from.Store("127.0.0.1:" + s.Port)
			if a := harness.Get(t, strings.Replace(s.URL("/private/x"), "a.test", "127.0.0.1", 1), harness.Bingbot); a.Status != 200 || a.Header.Get("X-Verdict") != tc.verdict {
				t.Errorf("got %d, verdict %q", a.Status, a.Header.Get("X-Verdict"))
			}
			if n := asked.Load(); n != tc.asked {
				t.Errorf("%d requests, want %d", n, tc.asked)
			}
		})
	}
}

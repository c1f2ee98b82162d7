package faults

import (
	"fmt"
	"net"
	"net/http"
	"testing"

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
			var l net.Listener
			listen := func(address string) {
				var err error
				if l, err = net.Listen("tcp", address); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = l.Close() })
			}
			var address string
			if listens {
				listen("127.0.0.1:0")
				address = l.Addr().String()
			} else {
				address = "127.0.0.1:" + harness.FreePort(t)
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
				listen(address)
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

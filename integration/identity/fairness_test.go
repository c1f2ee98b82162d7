package identity

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestFloodsOfClaims makes spoofed Googlebots of one network cause lookups
// continuously. Genuine Googlebots must be verified meanwhile.
func TestFloodsOfClaims(t *testing.T) {
	t.Parallel()
	const reals, perSecond, before, most = 40, 500, 2 * time.Second, 20 * time.Second
	records := map[string]string{}
	for i := range reals {
		name := fmt.Sprintf("crawl-192-0-2-%d.googlebot.com.", i)
		records[fmt.Sprintf("%d.2.0.192.in-addr.arpa.", i)], records[name] = name, fmt.Sprintf("192.0.2.%d", i)
	}
	for i := range 256 {
		records[fmt.Sprintf("%d.100.51.198.in-addr.arpa.", i)] = "" // no response
	}
	for name, liar := range map[string]func(i int) string{
		"an IPv6 /64": func(i int) string { return fmt.Sprintf("2001:db8:5:6::%x", i) },
		"a /24 whose reverse zone does not answer": func(i int) string { return fmt.Sprintf("198.51.100.%d", i%256) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dns := newNameServer(t, records)
			s := harness.Serve(t, "http://a.test:$PORT {\n header >X-Identity {http.robots_guard.identity}\n robots_guard\n"+
				" respond /robots.txt `"+identityRobots+"`\n respond page\n}",
				"$GLOBAL", "robots_guard {\n verify {\n ranges off\n resolver "+dns.address+"\n }\n}\nservers {\n trusted_proxies static 127.0.0.0/8\n}")
			s.Warm("/")
			many := harness.NewClient(false)
			many.Transport.(*http.Transport).DisableKeepAlives = false
			many.Transport.(*http.Transport).MaxIdleConnsPerHost = 16
			defer many.CloseIdleConnections()
			claim := func(ip string) string {
				a, err := harness.Try(many, s.URL("/"), harness.Googlebot, from(ip))
				if err != nil || a.Status != 200 {
					t.Errorf("%s: got %d: %v", ip, a.Status, err)
				}
				return a.Header.Get("X-Identity")
			}
			began, end := time.Now(), make(chan struct{})
			var flood sync.WaitGroup
			const parts = 8
			for part := range parts {
				flood.Go(func() {
					ticker := time.NewTicker(parts * time.Second / perSecond)
					defer ticker.Stop()
					for i := part; i < int((before+most).Seconds())*perSecond; i += parts {
						select {
						case <-ticker.C:
						case <-end:
							return
						}
						if got := claim(liar(i)); got == "verified" {
							t.Errorf("a spoofed client is %s", got)
						}
					}
				})
			}
			ended := make(chan struct{})
			go func() { flood.Wait(); close(ended) }()
			time.Sleep(before)
			verified, left := 0, make(map[string]bool)
			for i := range reals {
				left[fmt.Sprintf("192.0.2.%d", i)] = true
			}
			come := time.Now()
			for verified < reals {
				select {
				case <-ended:
					t.Fatalf("%d of %d are verified after a flood of %s", verified, reals, time.Since(began))
				case <-time.After(50 * time.Millisecond):
				}
				for ip := range left {
					switch got := claim(ip); got {
					case "verified":
						verified++
						delete(left, ip)
					case "unknown":
					default:
						t.Fatalf("a genuine crawler is %s", got)
					}
				}
			}
			t.Logf("%d of %d verified after %s", verified, reals, time.Since(come).Round(time.Millisecond))
			close(end)
			<-ended
			m := s.Metrics()
			if n := m.Sum("caddy_robots_guard_dns_lookups_running"); n > 8 {
				t.Errorf("%v lookups are running", n)
			}
			if n := m.Sum("caddy_robots_guard_dns_lookups_waiting"); n > 256 {
				t.Errorf("%v lookups are waiting", n)
			}
		})
	}
}

// TestErrorIsNoList serves an error instead of an address list. It must neither verify
// nor refute a client.
func TestErrorIsNoList(t *testing.T) {
	t.Parallel()
	skipWithoutRoots(t)
	lists := newListServer(t, answering(`{"error": "too many requests", "client_ip": "203.0.113.77"}`))
	s := listing(t, lists, t.TempDir(), t.TempDir())
	line := s.Await("crawler address list cannot be used; using the previous list", 1)[0]
	if text := fmt.Sprint(line["error"]); !strings.Contains(text, "unknown format") {
		t.Errorf("the log contains %q", text)
	}
	for _, ip := range []string{"203.0.113.77", googlesAddress} {
		if got := identityOf(t, s, ip); got != "unknown" {
			t.Errorf("%s is %s", ip, got)
		}
	}
}

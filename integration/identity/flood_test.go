package identity

import (
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestManyClaims makes a spoofed client use many addresses while the DNS server does
// not respond. No request waits for a lookup, and the used resources are bounded.
func TestManyClaims(t *testing.T) {
	t.Parallel()
	const at = "192.0.2.1"
	claims := 3000
	if harness.Long() {
		claims = 10_000
	}
	records := map[string]string{
		"1.2.0.192.in-addr.arpa.": "crawl.googlebot.com.",
		"crawl.googlebot.com.":    at,
	}
	address := func(i int) net.IP { return net.IPv4(20, byte(i>>8), byte(i), 7) }
	for i := range claims {
		records[fmt.Sprintf("7.%d.%d.20.in-addr.arpa.", byte(i), byte(i>>8))] = "" // no response
	}
	dns := newNameServer(t, records)
	s := harness.Serve(t, "http://a.test:$PORT {\n header >X-Identity {http.robots_guard.identity}\n robots_guard enforce\n"+
		" respond /robots.txt `"+identityRobots+"`\n respond page\n}",
		"$GLOBAL", "robots_guard {\n verify {\n ranges off\n resolver "+dns.address+"\n }\n}\nservers {\n trusted_proxies static 127.0.0.0/8\n}")
	s.Warm("/")
	harness.Eventually(t, "the real one is verified", func() bool { return identityOf(t, s, at) == "verified" })

	began, before := time.Now(), dns.queries.Load()
	many := harness.NewClient(false)
	many.Transport.(*http.Transport).DisableKeepAlives = false
	many.Transport.(*http.Transport).MaxIdleConnsPerHost = 8
	defer many.CloseIdleConnections()
	var wait sync.WaitGroup
	for part := range 8 {
		wait.Go(func() {
			for i := part; i < claims; i += 8 {
				a, err := harness.Try(many, s.URL("/others-not/x"), harness.Googlebot, from(address(i).String()))
				if err != nil || a.Status != 200 || a.Header.Get("X-Identity") != "unknown" {
					t.Errorf("%s: got %d %q: %v", address(i), a.Status, a.Header.Get("X-Identity"), err)
					return
				}
			}
		})
	}
	wait.Wait()
	m := s.Metrics()
	asked, took := int(dns.queries.Load()-before), int(time.Since(began).Seconds())+1
	// 8 lookups run concurrently and take 2 s each; the resolver may send each query
	// twice.
	if most := 2 * 8 * (took/2 + 2); asked == 0 || asked > most {
		t.Errorf("%d DNS queries in %d s, want at most %d", asked, took, most)
	}
	if n := m.Sum("caddy_robots_guard_dns_lookups_running"); n > 8 {
		t.Errorf("%v lookups are running", n)
	}
	if n := m.Sum("caddy_robots_guard_dns_lookups_waiting"); n > 256 {
		t.Errorf("%v lookups are waiting", n)
	}
	if n := m.Sum("caddy_robots_guard_dns_lookups_total", `result="dropped"`); n < float64(claims/2) {
		t.Errorf("%v lookups were dropped", n)
	}
	if n := m.Sum("go_goroutines"); n > 200 {
		t.Errorf("%v goroutines", n)
	}
	if got := identityOf(t, s, at); got != "verified" {
		t.Errorf("the genuine crawler is %s afterwards", got)
	}
}

package forward

import (
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestProxiesHosts sends requests as health checks do, with an address as the host, or
// without a host in HTTP/1.0. A proxy with the guard must serve them as it does without
// the guard.
func TestProxiesHosts(t *testing.T) {
	t.Parallel()
	for name := range proxies {
		if name == "caddy" || name == "traefik" {
			continue // these serve only the hosts of their sites
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := behind(t, name)
			for what, start := range map[string]string{
				"no host":                     "HTTP/1.0",
				"an address":                  "HTTP/1.1\r\nHost: 192.0.2.7",
				"an IPv6 address":             "HTTP/1.1\r\nHost: [2001:db8::7]",
				"an IPv6 address with a port": "HTTP/1.1\r\nHost: [2001:db8::7]:8080",
				"a compressed IPv6 address":   "HTTP/1.1\r\nHost: [::1]",
			} {
				for _, tc := range []struct {
					userAgent, target, body string
					status                  int
				}{
					{"ELB-HealthChecker/2.0", "/public/", "origin", 200},
					{harness.Firefox, "/private/x.txt", "SECRET", 200},
					{harness.Bingbot, "/private/x.txt", "Disallow: /private/", 403},
				} {
					status, body := harness.Raw(t, &harness.Server{Port: s.port}, "GET "+tc.target+" "+start+"\r\nUser-Agent: "+tc.userAgent+"\r\nConnection: close\r\n\r\n")
					if status != tc.status || !strings.Contains(body, tc.body) {
						t.Errorf("%s: %s gets %d %.300q, want %d %s", what, tc.userAgent, status, body, tc.status, tc.body)
					}
				}
			}
		})
	}
}

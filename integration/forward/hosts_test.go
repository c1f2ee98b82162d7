package forward

import (
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestProxiesHosts asks for hosts as health checks do, by an address or, in HTTP/1.0, by
// none at all. What the proxy serves to them without the guard it serves with it.
func TestProxiesHosts(t *testing.T) {
	t.Parallel()
	for name := range proxies {
		if name == "caddy" || name == "traefik" {
			continue // which serve the hosts of their sites only
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := behind(t, name)
			for what, start := range map[string]string{
				"no host":           "HTTP/1.0",
				"an address":        "HTTP/1.1\r\nHost: 192.0.2.7",
				"one of IPv6":       "HTTP/1.1\r\nHost: [2001:db8::7]",
				"one with a port":   "HTTP/1.1\r\nHost: [2001:db8::7]:8080",
				"one without zeros": "HTTP/1.1\r\nHost: [::1]",
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

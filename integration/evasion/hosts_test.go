package evasion

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestHostsInAllForms spells hosts in many ways, with many ports and in all forms of a
// request target. The guard must apply the robots.txt of the site that Caddy selects
// for the request, and no other.
func TestHostsInAllForms(t *testing.T) {
	t.Parallel()
	const robots = "(site) {\n robots_guard enforce\n handle /robots.txt {\n  respond \"User-agent: *\nDisallow: /{args[0]}\"\n }\n handle {\n  respond {args[0]}\n }\n}\n"
	addresses := map[string]string{
		"named": "a.test", "wildcard": "*.test", "six": "[::1]", "four": "127.0.0.1", "punycode": "xn--bcher-kva.test", "labels": "a_b.*.multi", "any": "",
	}
	config := robots
	for site, address := range addresses {
		config += fmt.Sprintf("http://%s:$PORT {\n import site %s\n}\n", address, site)
	}
	s := harness.Serve(t, config)
	names := []string{
		"a.test", "A.TEST", "a.test.", "a.test..", "b.test", "B.Test.", "a.b.test", "xn--bcher-kva.test.", "b\u00fccher.test", "B\u00dcCHER.TEST", "\uff41.test", "a\u3002test",
		"[::1]", "::1", "[::1", "::1]", "[0:0:0:0:0:0:0:1]", "[::1%25lo]", "[::ffff:127.0.0.1]", "127.0.0.1", "127.1", "A_B.x.multi", "a_b.x.multi.",
		"", "a.test@b.test", "a%2etest", ".test", "..test", "*.test", "*.*.multi", "{host}.test", "a.test:a.test",
	}
	sites := slices.Sorted(maps.Keys(addresses)) // sorted, so that each test has a fixed order
	judged := 0
	for _, name := range names {
		for _, port := range []string{"", ":$PORT", ":80", ":0$PORT", ":x", ":", "::$PORT"} {
			host := name + strings.ReplaceAll(port, "$PORT", s.Port)
			for _, form := range []string{
				"GET /$PATH HTTP/1.1\r\nHost: $HOST", "GET /$PATH HTTP/1.0\r\nHost: $HOST", "CONNECT /$PATH HTTP/1.1\r\nHost: $HOST",
				"GET http://$HOST/$PATH HTTP/1.1\r\nHost: other.example", "GET http://$HOST/$PATH HTTP/1.0",
			} {
				ask := func(path, userAgent string) (status int, body string) {
					start := strings.NewReplacer("$HOST", host, "$PATH", path).Replace(form)
					return harness.Raw(t, s, start+"\r\nUser-Agent: "+userAgent+"\r\nConnection: close\r\n\r\n")
				}
				status, served := ask("page", harness.Firefox)
				if _, known := addresses[served]; status != 200 || !known {
					continue // Caddy rejects the request
				}
				judged++
				other := sites[judged%len(sites)]
				if other == served {
					other = sites[(judged+1)%len(sites)]
				}
				for site, want := range map[string]int{served: 403, other: 200} {
					if status, _ := ask(site, harness.Bingbot); status != want {
						t.Errorf("%.60q with host %q, served by site %s: got /%s with %d, want %d", form, host, served, site, status, want)
					}
				}
			}
		}
	}
	if judged < 500 {
		t.Errorf("only %d requests were served", judged)
	}
}

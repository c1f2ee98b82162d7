package identity

import (
	"net/http"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// forwardedFor sends the given X-Forwarded-For fields through a trusted proxy.
func forwardedFor(values ...string) func(*http.Request) {
	return func(r *http.Request) { r.Header["X-Forwarded-For"] = values }
}

// TestIdentityBehindProxy uses the address from a proxy in any spelling, and verifies
// no client by an address that the client itself may have added.
func TestIdentityBehindProxy(t *testing.T) {
	t.Parallel()
	site := "http://a.test:$PORT {\n header >X-Identity {http.robots_guard.identity}\n robots_guard enforce\n" +
		" respond /robots.txt `" + identityRobots + "`\n respond page\n}"
	with := func(t *testing.T, options string) *harness.Server {
		t.Helper()
		s := serveVerifying(t, site, strings.ReplaceAll(identityOptions, "trusted_proxies static 127.0.0.0/8",
			"trusted_proxies static 127.0.0.0/8\n"+options))
		s.Warm("/")
		return s
	}
	const real, liar = googlesAddress, somebodyElse
	for _, test := range []struct {
		name, options string
		rows          map[string]func(*http.Request) // keys are the identity and a description
	}{
		{"lenient", "", map[string]func(*http.Request){
			"verified, with spaces":                  forwardedFor("  " + real + "\t"),
			"verified, with a port":                  forwardedFor(real + ":4711"),
			"verified, IPv6":                         forwardedFor(googlesIPv6),
			"verified, IPv6 with a port":             forwardedFor("[" + googlesIPv6 + "]:4711"),
			"verified, IPv6 with a zone":             forwardedFor(googlesIPv6 + "%eth0"),
			"verified, IPv6 in capitals":             forwardedFor("2001:DB8:1:0:0:0:0:1"),
			"verified, IPv4 in IPv6":                 forwardedFor("::ffff:" + real),
			"verified, the same in hex":              forwardedFor("::FFFF:C000:0201"),
			"verified, invalid values before":        forwardedFor("unknown, , " + real),
			"verified, an internal proxy":            forwardedFor(real + ", 10.0.0.7"),
			"unknown, the client's address is added": forwardedFor(real + ", " + liar),
			"unknown, in a separate field":           forwardedFor(real, liar),
			"unknown, with ports":                    forwardedFor(real + ":1," + liar + ":2"),
			"unknown, an empty one first":            forwardedFor("", real+", "+liar),
			"unknown, no address":                    forwardedFor("unknown"),
			"unknown, no field":                      func(*http.Request) {},
			"spoofed":                                forwardedFor(liar),
			"spoofed, IPv4 in IPv6":                  forwardedFor("::ffff:" + liar),
			"spoofed, a genuine address after it":    forwardedFor(liar + ", " + real),
			"spoofed, invalid octal":                 forwardedFor("0300.0.2.1, " + liar),
			"spoofed, the zone is a name":            forwardedFor(somebodyElses6 + "%" + googlesIPv6),
		}},
		{"strict", "trusted_proxies_strict", map[string]func(*http.Request){
			"verified":                               forwardedFor(real),
			"verified, after a forged address":       forwardedFor(liar + ", " + real),
			"spoofed, the client's address is added": forwardedFor(real + ", " + liar),
			"spoofed, in a separate field":           forwardedFor(real, liar),
		}},
		{"a custom header field", "client_ip_headers CF-Connecting-IP", map[string]func(*http.Request){
			"verified": harness.Header("CF-Connecting-IP", real),
			"spoofed, whatever other fields contain": func(r *http.Request) {
				r.Header["X-Forwarded-For"] = []string{real}
				r.Header.Set("CF-Connecting-IP", liar)
			},
			"unknown, without the field": forwardedFor(real),
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := with(t, test.options)
			for row, change := range test.rows {
				want, _, _ := strings.Cut(row, ",")
				if got := harness.Get(t, s.URL("/"), harness.Googlebot, change).Header.Get("X-Identity"); got != want {
					t.Errorf("%s: %s", row, got)
				}
			}
			const warning = "a proxy passes on client addresses that clients can forge; clients behind it are not verified; " +
				"set trusted_proxies_strict in the global option servers, or let client_ip_headers name a header that the proxy overwrites"
			if test.options == "" {
				s.Await(warning, 1)
			}
			if n := len(s.Lines(warning)); n > 1 || n == 1 && test.options != "" {
				t.Errorf("warned %d times", n)
			}
		})
	}
}

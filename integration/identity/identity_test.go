package identity

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// Client addresses, from the blocks for documentation.
const (
	googlesAddress  = "192.0.2.1"
	googlesFar      = "203.0.113.200"
	bingsAddress    = "198.51.100.1"
	somebodyElse    = "203.0.113.9"
	googlesIPv6     = "2001:db8:1::1"
	somebodyElses6  = "2001:db8:2::9"
	identityOptions = `robots_guard {
		verify {
			ranges configured
			rdns off
		}
		crawler Googlebot {
			ranges file $LISTS/googlebot.json
		}
		crawler bingbot {
			ranges file $LISTS/bingbot.txt
		}
	}
	servers {
		trusted_proxies static 127.0.0.0/8
	}`
)

// addressLists are the address lists of the operators.
var addressLists = map[string]string{
	"googlebot.json": `{"creationTime": "2026-11-20T23:00:00.000000", "prefixes": [{"ipv4Prefix": "192.0.2.0/24"}, {"ipv4Prefix": "203.0.113.128/25"}, {"ipv6Prefix": "2001:db8:1::/64"}]}`,
	"bingbot.txt":    "# Bing\n198.51.100.0/24\n",
}

// identityRobots allows only the search engines.
const identityRobots = `User-agent: Googlebot
User-agent: bingbot
Disallow: /google-not/

User-agent: *
Disallow: /others-not/
`

// from sends a request through a trusted proxy with the given client address.
func from(ip string) func(*http.Request) { return harness.Header("X-Forwarded-For", ip) }

// identitySite runs a site that verifies clients.
func identitySite(t *testing.T, options string) *harness.Server {
	t.Helper()
	return serveVerifying(t, "http://a.test:$PORT {\n"+
		" header >X-Identity \"{http.robots_guard.identity} {http.robots_guard.crawler} {http.robots_guard.verdict}\"\n"+
		" robots_guard enforce {\n"+options+"\n}\n respond /robots.txt `"+identityRobots+"`\n respond page\n}", identityOptions)
}

// serveVerifying runs the server with the operators' address lists and waits until it
// has loaded them. Caddy starts its apps in any order, so the server may handle
// requests before that.
func serveVerifying(t *testing.T, sites, options string) *harness.Server {
	t.Helper()
	s := harness.Serve(t, sites, "$GLOBAL", options, "$LISTS", harness.Files(t, addressLists))
	harness.Eventually(t, "the address lists are loaded", func() bool {
		read := 0
		for name, prefixes := range s.Metrics() {
			if strings.HasPrefix(name, "caddy_robots_guard_address_list_prefixes{") && prefixes > 0 {
				read++
			}
		}
		return read == len(addressLists)
	})
	return s
}

// TestIdentity verifies clients by address lists. A genuine crawler is never blocked as
// spoofed, and a spoofed client gains nothing by its name.
func TestIdentity(t *testing.T) {
	t.Parallel()
	s := identitySite(t, "")
	s.Warm("/")
	for _, row := range []struct {
		name, userAgent, ip, path string
		status                    int
		identity                  string
	}{
		{"a genuine crawler where its group allows it", harness.Googlebot, googlesAddress, "/others-not/x", 200, "verified Googlebot allowed"},
		{"over IPv6", harness.Googlebot, googlesIPv6, "/others-not/x", 200, "verified Googlebot allowed"},
		{"over IPv4-mapped IPv6", harness.Googlebot, "::ffff:" + googlesAddress, "/others-not/x", 200, "verified Googlebot allowed"},
		{"a crawler of the same operator", harness.GooglebotImage, googlesAddress, "/others-not/x", 200, "verified Googlebot-Image allowed"},
		{"a genuine crawler where its group disallows it", harness.Googlebot, googlesAddress, "/google-not/x", 403, ""},
		{"a spoofed client where the spoofed crawler's group allows it", harness.Googlebot, somebodyElse, "/others-not/x", 403, ""},
		{"a spoofed client where the spoofed crawler's group disallows it", harness.Googlebot, somebodyElse, "/google-not/x", 403, ""},
		{"a spoofed client where all clients are allowed", harness.Googlebot, somebodyElse, "/", 200, "spoofed Googlebot allowed"},
		{"a spoofed client over IPv6", harness.Googlebot, somebodyElses6, "/others-not/x", 403, ""},
		{"another operator's addresses", harness.Googlebot, bingsAddress, "/others-not/x", 403, ""},
		{"a crawler that cannot be verified", harness.FooBot, somebodyElse, "/", 200, "claimed FooBarBot allowed"},
		{"a link preview from anywhere", harness.Facebook, somebodyElse, "/others-not/x", 200, "claimed facebookexternalhit exempt"},
		{"a browser", harness.Firefox, somebodyElse, "/others-not/x", 200, ""},
	} {
		a := harness.Get(t, s.URL(row.path), row.userAgent, from(row.ip))
		if a.Status != row.status || row.identity != "" && a.Header.Get("X-Identity") != row.identity {
			t.Errorf("%s: got %d %q, want %d %q", row.name, a.Status, a.Header.Get("X-Identity"), row.status, row.identity)
		}
	}
	m := s.Metrics()
	if n := m.Sum("caddy_robots_guard_requests_total", `identity="spoofed"`, `crawler="_spoofed"`, `class="other"`); n != 5 {
		t.Errorf("counted %v requests of spoofed clients, want 5", n)
	}
	if n := m.Sum("caddy_robots_guard_requests_total", `identity="spoofed"`); n != 5 {
		t.Errorf("some of %v requests of spoofed clients are counted under the spoofed name", n)
	}
}

// TestIdentityWithoutTrustedProxy checks that header fields of an untrusted proxy are
// ignored.
func TestIdentityWithoutTrustedProxy(t *testing.T) {
	t.Parallel()
	s := serveVerifying(t, "http://a.test:$PORT {\n header >X-Identity {http.robots_guard.identity}\n robots_guard enforce\n"+
		" respond /robots.txt `"+identityRobots+"`\n respond page\n}",
		strings.ReplaceAll(identityOptions, "trusted_proxies static 127.0.0.0/8", ""))
	a := harness.Get(t, s.URL("/"), harness.Googlebot, from(googlesAddress))
	if got := a.Header.Get("X-Identity"); got != "unknown" {
		t.Errorf("the field of an untrusted proxy made it %q", got)
	}
}

// TestSpoofed checks that spoofed block affects no other clients, and that only_log
// verified does not apply to spoofed clients. caddymodule.TestDecision has the other
// settings.
func TestSpoofed(t *testing.T) {
	t.Parallel()
	type row struct {
		userAgent, ip, path string
		status              int
	}
	tests := []struct {
		options string
		rows    []row
	}{
		{"spoofed block", []row{
			{harness.Googlebot, somebodyElse, "/", 403},
			{harness.Googlebot, somebodyElse, "/robots.txt", 200},
			{harness.Googlebot, googlesAddress, "/", 200},
			{harness.Facebook, somebodyElse, "/", 200},
			{harness.Firefox, somebodyElse, "/", 200},
		}},
		{"only_log verified search", []row{
			{harness.Googlebot, googlesAddress, "/google-not/x", 200},
			{harness.Googlebot, somebodyElse, "/google-not/x", 403},
		}},
	}
	var sites string
	for i, test := range tests {
		sites += fmt.Sprintf("http://s%d.test:$PORT {\n", i) + " robots_guard enforce {\n" + test.options + "\n}\n respond /robots.txt `" + identityRobots + "`\n respond page\n}\n"
	}
	s := serveVerifying(t, sites, identityOptions)
	for i, test := range tests {
		site := fmt.Sprintf("http://s%d.test", i)
		s.Warm(site + "/")
		for _, r := range test.rows {
			if a := harness.Get(t, s.URL(site+r.path), r.userAgent, from(r.ip)); a.Status != r.status {
				t.Errorf("%s: %s for %s from %s: got %d, want %d\n%s", test.options, r.path, r.userAgent, r.ip, a.Status, r.status, a.Body)
			}
		}
	}
}

// TestSpoofedAnswer checks the reason in the response to a spoofed client.
func TestSpoofedAnswer(t *testing.T) {
	t.Parallel()
	s := identitySite(t, "spoofed block")
	s.Warm("/")
	a := harness.Get(t, s.URL("/"), harness.Googlebot, from(somebodyElse))
	if want := "calls itself Googlebot"; a.Status != 403 || !strings.Contains(a.Body, want) || strings.Contains(a.Body, "Disallow") {
		t.Errorf("got %d %q, want %q", a.Status, a.Body, want)
	}
	line := s.Await("request with a spoofed name", 1)[0]
	if line["identity"] != "spoofed" || line["proof"] != "ranges" || line["verdict"] != "allowed" || line["action"] != "blocked" {
		t.Errorf("logged %v", line)
	}
}

// TestCrawlerMatcherByIdentity tests a matcher for verified crawlers.
func TestCrawlerMatcherByIdentity(t *testing.T) {
	t.Parallel()
	s := harness.Serve(t, "http://a.test:$PORT {\n @real robots_crawler verified Googlebot\n @false expression robots_crawler('spoofed')\n"+
		" respond @real real\n respond @false false\n respond other\n}", "$GLOBAL", identityOptions, "$LISTS", harness.Files(t, addressLists))
	harness.Eventually(t, "the address lists are loaded", func() bool {
		return harness.Get(t, s.URL("/"), harness.Googlebot, from(googlesAddress)).Body == "real" && harness.Get(t, s.URL("/"), harness.Googlebot, from(somebodyElse)).Body == "false"
	})
	for _, row := range []struct{ userAgent, ip, want string }{
		{harness.Googlebot, googlesAddress, "real"},
		{harness.Googlebot, somebodyElse, "false"},
		{harness.Bingbot, bingsAddress, "other"},
		{harness.Firefox, somebodyElse, "other"},
	} {
		if a := harness.Get(t, s.URL("/"), row.userAgent, from(row.ip)); a.Body != row.want {
			t.Errorf("%s from %s: got %q, want %q", row.userAgent, row.ip, a.Body, row.want)
		}
	}
}

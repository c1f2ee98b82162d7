package integration

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Addresses of the tests, of the blocks for documentation.
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

// addressLists are the lists of the tests' operators.
var addressLists = map[string]string{
	"googlebot.json": `{"creationTime": "2026-11-20T23:00:00.000000", "prefixes": [{"ipv4Prefix": "192.0.2.0/24"}, {"ipv4Prefix": "203.0.113.128/25"}, {"ipv6Prefix": "2001:db8:1::/64"}]}`,
	"bingbot.txt":    "# Bing\n198.51.100.0/24\n",
}

// identityRobots lets the search engines in and nobody else.
const identityRobots = `User-agent: Googlebot
User-agent: bingbot
Disallow: /google-not/

User-agent: *
Disallow: /others-not/
`

// from sends a request through a trusted proxy that names the client.
func from(ip string) func(*http.Request) { return header("X-Forwarded-For", ip) }

// identitySite runs a site with verified claims.
func identitySite(t *testing.T, options string) *server {
	t.Helper()
	return serveVerifying(t, "http://a.test:$PORT {\n"+
		" header >X-Identity \"{http.robots_guard.identity} {http.robots_guard.crawler} {http.robots_guard.verdict}\"\n"+
		" robots_guard enforce {\n"+options+"\n}\n respond /robots.txt `"+identityRobots+"`\n respond page\n}", identityOptions)
}

// serveVerifying runs the server with the operators' lists and waits until it
// has read them: Caddy starts its apps in any order, so that the first requests
// may be answered before.
func serveVerifying(t *testing.T, sites, options string) *server {
	t.Helper()
	s := serve(t, sites, "$GLOBAL", options, "$LISTS", files(t, addressLists))
	eventually(t, "the lists are read", func() bool {
		read := 0
		for name, prefixes := range s.metrics() {
			if strings.HasPrefix(name, "caddy_robots_guard_address_list_prefixes{") && prefixes > 0 {
				read++
			}
		}
		return read == len(addressLists)
	})
	return s
}

// TestIdentity verifies claims by lists of addresses: a real crawler is never
// blocked as a false one, a false one gains nothing by its name.
func TestIdentity(t *testing.T) {
	t.Parallel()
	s := identitySite(t, "")
	s.warm("/")
	for _, row := range []struct {
		name, userAgent, ip, path string
		status                    int
		identity                  string
	}{
		{"the real one where its group lets it", googlebot, googlesAddress, "/others-not/x", 200, "verified Googlebot allowed"},
		{"over IPv6", googlebot, googlesIPv6, "/others-not/x", 200, "verified Googlebot allowed"},
		{"over IPv6 that is IPv4", googlebot, "::ffff:" + googlesAddress, "/others-not/x", 200, "verified Googlebot allowed"},
		{"a crawler of the same operator", googlebotImage, googlesAddress, "/others-not/x", 200, "verified Googlebot-Image allowed"},
		{"the real one where its group does not", googlebot, googlesAddress, "/google-not/x", 403, ""},
		{"a liar where the borrowed group lets it", googlebot, somebodyElse, "/others-not/x", 403, ""},
		{"a liar where the borrowed group does not", googlebot, somebodyElse, "/google-not/x", 403, ""},
		{"a liar where everybody may be", googlebot, somebodyElse, "/", 200, "spoofed Googlebot allowed"},
		{"a liar over IPv6", googlebot, somebodyElses6, "/others-not/x", 403, ""},
		{"another operator's addresses", googlebot, bingsAddress, "/others-not/x", 403, ""},
		{"a crawler whose operator publishes nothing", fooBot, somebodyElse, "/", 200, "claimed FooBarBot allowed"},
		{"a link preview from anywhere", facebook, somebodyElse, "/others-not/x", 200, "claimed facebookexternalhit exempt"},
		{"a browser", firefox, somebodyElse, "/others-not/x", 200, ""},
	} {
		a := get(t, s.url(row.path), row.userAgent, from(row.ip))
		if a.status != row.status || row.identity != "" && a.header.Get("X-Identity") != row.identity {
			t.Errorf("%s: got %d %q, want %d %q", row.name, a.status, a.header.Get("X-Identity"), row.status, row.identity)
		}
	}
	m := s.metrics()
	if n := m.sum("caddy_robots_guard_requests_total", `identity="spoofed"`, `crawler="_spoofed"`, `class="other"`); n != 5 {
		t.Errorf("%v requests are counted under a false name, want 5", n)
	}
	if n := m.sum("caddy_robots_guard_requests_total", `identity="spoofed"`); n != 5 {
		t.Errorf("of %v requests under a false name some are counted under it", n)
	}
}

// TestIdentityWithoutTrustedProxy takes nobody's word for an address.
func TestIdentityWithoutTrustedProxy(t *testing.T) {
	t.Parallel()
	s := serveVerifying(t, "http://a.test:$PORT {\n header >X-Identity {http.robots_guard.identity}\n robots_guard enforce\n"+
		" respond /robots.txt `"+identityRobots+"`\n respond page\n}",
		strings.ReplaceAll(identityOptions, "trusted_proxies static 127.0.0.0/8", ""))
	a := get(t, s.url("/"), googlebot, from(googlesAddress))
	if got := a.header.Get("X-Identity"); got != "unknown" {
		t.Errorf("a header from anywhere made it %q", got)
	}
}

// TestSpoofed does what the owner wants about false names, and nothing to
// others.
func TestSpoofed(t *testing.T) {
	t.Parallel()
	type row struct {
		userAgent, ip, path string
		status              int
	}
	for _, test := range []struct {
		options string
		rows    []row
	}{
		{"spoofed block", []row{
			{googlebot, somebodyElse, "/", 403},
			{googlebot, somebodyElse, "/robots.txt", 200},
			{googlebot, googlesAddress, "/", 200},
			{facebook, somebodyElse, "/", 200},
			{firefox, somebodyElse, "/", 200},
		}},
		{"spoofed log", []row{
			{googlebot, somebodyElse, "/others-not/x", 200},
			{googlebot, googlesAddress, "/google-not/x", 403},
		}},
		{"exempt search", []row{
			{googlebot, googlesAddress, "/google-not/x", 200},
			{googlebot, somebodyElse, "/google-not/x", 403},
		}},
		{"exempt verified search", []row{
			{googlebot, googlesAddress, "/google-not/x", 200},
			{googlebot, somebodyElse, "/google-not/x", 403},
			{bingbot, bingsAddress, "/google-not/x", 200},
			{bingbot, googlesAddress, "/google-not/x", 403},
		}},
		{"only_log verified search", []row{
			{googlebot, googlesAddress, "/google-not/x", 200},
			{googlebot, somebodyElse, "/google-not/x", 403},
		}},
	} {
		t.Run(test.options, func(t *testing.T) {
			t.Parallel()
			s := identitySite(t, test.options)
			s.warm("/")
			for _, r := range test.rows {
				if a := get(t, s.url(r.path), r.userAgent, from(r.ip)); a.status != r.status {
					t.Errorf("%s for %s from %s: got %d, want %d\n%s", r.path, r.userAgent, r.ip, a.status, r.status, a.body)
				}
			}
		})
	}
}

// TestSpoofedAnswer tells a client under a false name why it is turned away.
func TestSpoofedAnswer(t *testing.T) {
	t.Parallel()
	s := identitySite(t, "spoofed block")
	s.warm("/")
	a := get(t, s.url("/"), googlebot, from(somebodyElse))
	if want := "calls itself Googlebot"; a.status != 403 || !strings.Contains(a.body, want) || strings.Contains(a.body, "Disallow") {
		t.Errorf("got %d %q, want %q", a.status, a.body, want)
	}
	line := s.await("request under a false name", 1)[0]
	if line["identity"] != "spoofed" || line["proof"] != "ranges" || line["verdict"] != "allowed" || line["action"] != "blocked" {
		t.Errorf("logged %v", line)
	}
}

// TestCrawlerMatcherByIdentity lets a matcher tell the real ones.
func TestCrawlerMatcherByIdentity(t *testing.T) {
	t.Parallel()
	s := serve(t, "http://a.test:$PORT {\n @real crawler verified Googlebot\n @false expression crawler('spoofed')\n"+
		" respond @real real\n respond @false false\n respond other\n}", "$GLOBAL", identityOptions, "$LISTS", files(t, addressLists))
	eventually(t, "the lists are read", func() bool {
		return get(t, s.url("/"), googlebot, from(googlesAddress)).body == "real" && get(t, s.url("/"), googlebot, from(somebodyElse)).body == "false"
	})
	for _, row := range []struct{ userAgent, ip, want string }{
		{googlebot, googlesAddress, "real"},
		{googlebot, somebodyElse, "false"},
		{bingbot, bingsAddress, "other"},
		{firefox, somebodyElse, "other"},
	} {
		if a := get(t, s.url("/"), row.userAgent, from(row.ip)); a.body != row.want {
			t.Errorf("%s from %s: got %q, want %q", row.userAgent, row.ip, a.body, row.want)
		}
	}
}

// TestVerifiedReaderOfOneOperator takes what one verified crawler has read for
// read by its siblings, from whatever network, and what a liar has read for the
// liar's alone.
func TestVerifiedReaderOfOneOperator(t *testing.T) {
	t.Parallel()
	root := files(t, map[string]string{"robots.txt": "User-agent: *\nAllow: /\n"})
	s := serveVerifying(t, "http://a.test:$PORT {\n robots_guard enforce {\n  ttl 1s 1s\n }\n handle /robots.txt {\n  root "+root+"\n  file_server\n }\n handle {\n  respond page\n }\n}",
		identityOptions)
	s.warm("/")
	write(t, filepath.Join(root, "robots.txt"), "User-agent: *\nDisallow: /new/\n")
	eventually(t, "the new file is read", func() bool {
		get(t, s.url("/"), bingbot, from(somebodyElse))
		return len(s.lines("robots.txt changed")) > 0
	})
	stale := func(userAgent, ip string) bool {
		t.Helper()
		return get(t, s.url("/new/x"), userAgent, from(ip)).status != 403
	}
	get(t, s.url("/robots.txt"), googlebot, from(somebodyElse))
	if !stale(googlebot, googlesAddress) {
		t.Error("a liar has read the file, and the real crawler is held to it")
	}
	get(t, s.url("/robots.txt"), googlebot, from(googlesAddress))
	if stale(googlebot, googlesFar) || stale(googlebotImage, googlesFar) {
		t.Error("its operator has read the file, and the crawler is still held not to know it")
	}
	if !stale(bingbot, bingsAddress) {
		t.Error("another operator's crawler is held to what it has not read")
	}
}

// TestVerifyLoadErrors refuses lists that cannot be used when they are needed.
func TestVerifyLoadErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, file, want string }{
		{"missing", "", "no such file"},
		{"empty", "\n", "no address"},
		{"too wide", "0.0.0.0/0\n", "0.0.0.0/0"},
		{"no list", "<html>not found</html>", "neither an address nor a prefix"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			list := filepath.Join(dir, "list.txt")
			if test.file != "" {
				write(t, list, test.file)
			}
			config := filepath.Join(dir, "Caddyfile")
			write(t, config, fmt.Sprintf("{\n admin off\n robots_guard {\n  verify {\n   ranges configured\n  }\n  crawler Googlebot {\n   ranges file %s\n  }\n }\n}\nhttp://127.0.0.1:%s {\n robots_guard\n}\n", list, freePort(t)))
			output := fails(t, config)
			if !strings.Contains(output, test.want) || !strings.Contains(output, "list.txt") {
				t.Errorf("the error is %q, want %q and the file", output, test.want)
			}
		})
	}
}

// fails runs the server with a configuration that cannot be loaded and returns
// what it says.
func fails(t *testing.T, config string) string {
	t.Helper()
	_, output, code := command(t, "", "run", "--config", config, "--adapter", "caddyfile")
	if code == 0 {
		t.Error("the server ended without an error")
	}
	return output
}

// write replaces a file at once.
func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		t.Fatal(err)
	}
}

// TestUntrustedProxyWarning tells the owner once that real crawlers look false
// behind a proxy that is not trusted.
func TestUntrustedProxyWarning(t *testing.T) {
	t.Parallel()
	const warning = "if a proxy or CDN stands in front"
	warnings := func(s *server) int { return strings.Count(s.logs.String(), warning) }
	trusting := identitySite(t, "")
	get(t, trusting.url("/"), googlebot, from(somebodyElse))

	// The proxy's address is trusted to be the client's: that of another proxy.
	s := serveVerifying(t, "http://a.test:$PORT {\n robots_guard enforce {\n  spoofed block\n }\n respond /robots.txt `"+identityRobots+"`\n respond page\n}",
		strings.ReplaceAll(identityOptions, "trusted_proxies static 127.0.0.0/8", "listener_wrappers {\n proxy_protocol {\n allow 127.0.0.0/8\n }\n }"))
	send := func(headers string) {
		t.Helper()
		status, _ := raw(t, s, "PROXY TCP4 "+somebodyElse+" 127.0.0.1 4711 80\r\nGET / HTTP/1.1\r\nHost: a.test:"+s.port+"\r\nUser-Agent: Googlebot/2.1\r\n"+headers+"Connection: close\r\n\r\n")
		if status != 403 {
			t.Errorf("a false name got %d", status)
		}
	}
	send("")
	s.await("request under a false name", 1)
	if n := warnings(s); n != 0 {
		t.Errorf("%d warnings without any sign of a proxy", n)
	}
	for range 3 {
		send("X-Forwarded-For: " + googlesAddress + "\r\n")
	}
	eventually(t, "a warning", func() bool { return warnings(s) > 0 })
	s.await("request under a false name", 4)
	if n := warnings(s); n != 1 {
		t.Errorf("%d warnings", n)
	}
	if n := warnings(trusting); n != 0 {
		t.Errorf("%d warnings behind a trusted proxy", n)
	}
}

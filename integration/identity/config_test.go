package identity

import (
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestUntrustedProxyWarning checks that the guard warns the owner once if it takes
// genuine crawlers for spoofed clients, because they are behind an untrusted proxy.
func TestUntrustedProxyWarning(t *testing.T) {
	t.Parallel()
	const warning = "if a proxy or CDN is in front of this server"
	warnings := func(s *harness.Server) int { return strings.Count(s.Logs.String(), warning) }
	trusting := identitySite(t, "")
	harness.Get(t, trusting.URL("/"), harness.Googlebot, from(somebodyElse))

	// The client address is that of another proxy.
	s := serveVerifying(t, "http://a.test:$PORT {\n robots_guard enforce {\n  spoofed block\n }\n respond /robots.txt `"+identityRobots+"`\n respond page\n}",
		strings.ReplaceAll(identityOptions, "trusted_proxies static 127.0.0.0/8", "listener_wrappers {\n proxy_protocol {\n allow 127.0.0.0/8\n }\n }"))
	send := func(headers string) {
		t.Helper()
		status, _ := harness.Raw(t, s, "PROXY TCP4 "+somebodyElse+" 127.0.0.1 4711 80\r\nGET / HTTP/1.1\r\nHost: a.test:"+s.Port+"\r\nUser-Agent: Googlebot/2.1\r\n"+headers+"Connection: close\r\n\r\n")
		if status != 403 {
			t.Errorf("a spoofed client got %d", status)
		}
	}
	send("")
	s.Await("request with a spoofed name", 1)
	if n := warnings(s); n != 0 {
		t.Errorf("%d warnings without any sign of a proxy", n)
	}
	for range 3 {
		send("X-Forwarded-For: " + googlesAddress + "\r\n")
	}
	harness.Eventually(t, "a warning", func() bool { return warnings(s) > 0 })
	s.Await("request with a spoofed name", 4)
	if n := warnings(s); n != 1 {
		t.Errorf("%d warnings", n)
	}
	if n := warnings(trusting); n != 0 {
		t.Errorf("%d warnings behind a trusted proxy", n)
	}
}

package identity

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestVerifyLoadErrors checks that the server rejects invalid address lists at its
// start.
func TestVerifyLoadErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, file, want string }{
		{"missing", "", "file not found"},
		{"empty", "\n", "the list is empty"},
		{"too wide", "0.0.0.0/0\n", "0.0.0.0/0"},
		{"not a list", "<html>not found</html>", "web page without an address list"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			list := filepath.Join(dir, "list.txt")
			if test.file != "" {
				harness.Write(t, list, test.file)
			}
			config := filepath.Join(dir, "Caddyfile")
			harness.Write(t, config, fmt.Sprintf("{\n admin off\n robots_guard {\n  verify {\n   ranges configured\n  }\n  crawler Googlebot {\n   ranges file %s\n  }\n }\n}\nhttp://127.0.0.1:%s {\n robots_guard\n}\n", list, harness.FreePort(t)))
			output := fails(t, config)
			if !strings.Contains(output, test.want) || !strings.Contains(output, "list.txt") {
				t.Errorf("the error is %q, want %q and the name of the file", output, test.want)
			}
		})
	}
}

// fails runs the server with an invalid configuration and returns its output.
func fails(t *testing.T, config string) string {
	t.Helper()
	_, output, code := harness.Command(t, "", "run", "--config", config, "--adapter", "caddyfile")
	if code == 0 {
		t.Error("the server exited without an error")
	}
	return output
}

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

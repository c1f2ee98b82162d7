package directive

import (
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestRefusalHostile checks how content from a client and from robots.txt appears in
// the response to a blocked request: as a line of plain text, whatever its bytes.
func TestRefusalHostile(t *testing.T) {
	t.Parallel()
	const rule = "/<script>alert(1)</script>\x1b[31m\x07\u009b\u202e\xff"
	o := harness.NewOrigin(t, "User-agent: *\nDisallow: /private"+"\nDisallow: "+rule+"\n", nil)
	s := harness.Serve(t, `http://:$PORT {
		robots_guard enforce {
			fetch_wait 20s
			fetch_timeout 20s
		}
		reverse_proxy $ORIGIN
	}`, "$ORIGIN", o.Address())
	for _, tc := range []struct{ name, target, host, userAgent string }{
		{"the rule", "/%3Cscript%3Ealert(1)%3C/script%3E%1b[31m%07%c2%9b%e2%80%ae%ff", "a.test", harness.Bingbot},
		{"the path", "/private/<script>%0d%0aSet-Cookie:%20a=b", "a.test", harness.Bingbot},
		{"the host", "/private/x", "<b>a.test", harness.Bingbot},
		{"the User-Agent", "/private/x", "a.test", "<img/src=x>bot/1.0\x1b[31m (+http://a.example/)"},
		{"a long host", "/private/x", strings.Repeat("a", 1000), harness.Bingbot},
	} {
		response := harness.RawAnswer(t, s, "GET "+tc.target+" HTTP/1.1\r\nHost: "+tc.host+"\r\nUser-Agent: "+tc.userAgent+"\r\nConnection: close\r\n\r\n")
		if response.Status == 400 {
			continue // net/http rejects such bytes
		}
		if response.Status != 403 || response.Header.Get("Content-Type") != "text/plain; charset=utf-8" ||
			response.Header.Get("X-Content-Type-Options") != "nosniff" || response.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: got %d %v", tc.name, response.Status, response.Header)
		}
		if strings.ContainsFunc(response.Body, func(c rune) bool { return c < ' ' && c != '\n' || c >= 0x7f }) {
			t.Errorf("%s: control characters in %q", tc.name, response.Body)
		}
		if len(response.Body) > 2000 {
			t.Errorf("%s: %d bytes", tc.name, len(response.Body))
		}
	}
}

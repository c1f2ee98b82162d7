package forward

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestNginxForbids tests pages that nginx itself denies, independently of robots.txt.
func TestNginxForbids(t *testing.T) {
	t.Parallel()
	s := beside(t)
	path := s.file(t, "nginx/site.conf")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	harness.Write(t, filepath.Join(s.dir, "own.conf"), strings.Replace(string(text), "\tlocation / {", "\tlocation /own/ {\n\t\tdeny all;\n\t}\n\tlocation /folder/ {\n\t\tautoindex off;\n\t\talias "+s.dir+"/;\n\t}\n\n\tlocation / {", 1))
	harness.Attend(t, harness.Nginx(t, s.dir, "include "+s.dir+"/own.conf;"), "127.0.0.1:"+s.port)
	for _, target := range []string{"/own/", "/folder/"} {
		if status, body := s.raw(t, harness.Firefox, target); status != 403 || strings.Contains(body, "robots.txt") || !strings.Contains(body, "<h1>403 Forbidden</h1>") {
			t.Errorf("a browser at %s: %d %q", target, status, body)
		}
	}
}

// TestNginxChallenges checks that nginx sends visitors, but not crawlers, to a
// challenge for a disallowed page.
func TestNginxChallenges(t *testing.T) {
	t.Parallel()
	challenge := harness.NewOrigin(t, "", func(w http.ResponseWriter, _ *http.Request) bool {
		_, _ = w.Write([]byte("a challenge"))
		return true
	})
	s := beside(t)
	s.edits = []string{`# ":disallowed" 127.0.0.1:8923`, `":disallowed" ` + challenge.Address()}
	s.front(t, "nginx")
	harness.Eventually(t, "a crawler is refused", func() bool { status, _ := s.raw(t, harness.Bingbot, "/private/x.txt"); return status == 403 })
	for _, tc := range []struct {
		userAgent, target string
		status            int
		body              string
	}{
		{harness.Firefox, "/private/x.txt", 200, "a challenge"},
		{harness.Firefox, "/echo/../private/x.txt", 200, "a challenge"},
		{harness.Firefox, "/echo", 200, "verdict"},
		{harness.Bingbot, "/private/x.txt", 403, "Disallow: /private/"},
		{harness.Bingbot, "/echo", 200, "verdict"},
	} {
		if status, body := s.raw(t, tc.userAgent, tc.target, "X-Robots-Path: allowed\r\n"); status != tc.status || !strings.Contains(body, tc.body) {
			t.Errorf("%s as %s: %d %q, want %d %q", tc.target, tc.userAgent, status, body, tc.status, tc.body)
		}
	}
}

package forward

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestNginxForbids has nginx refuse something for a reason of its own, which is no matter
// of the robots.txt.
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

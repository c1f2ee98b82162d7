package managed

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// What is imported is served, from a list and from a Caddyfile, and says what the file
// said.
func TestImport(t *testing.T) {
	t.Parallel()
	const robots = `User-agent: GPTBot
User-agent: "New" Bot
Disallow: /
Allow: /press kit/

User-agent: Googlebot
Disallow: /q?a={b}

User-agent: *
Disallow: /private
Crawl-delay: 2
Sitemap: https://a.test/sitemap.xml
`
	list, stderr, code := harness.Command(t, robots, "robots-guard", "managed", "import", "-")
	if code != 0 || !strings.Contains(stderr, "write into the Caddyfile: sitemap https://a.test/sitemap.xml") {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	directive, _, _ := harness.Command(t, robots, "robots-guard", "managed", "import", "--caddyfile", "-")
	file := filepath.Join(harness.Files(t, map[string]string{"rules.json": list}), "rules.json")
	s := harness.Serve(t, "http://a.test:$PORT {\nrobots_txt {\nbase none\nrules $FILE\n}\n}\nhttp://b.test:$PORT {\n"+directive+"}\n", "$FILE", file)
	for _, host := range []string{"a.test", "b.test"} {
		served := harness.Get(t, s.URL("/robots.txt"), harness.Googlebot, harness.Host(host)).Body
		for token, paths := range map[string]map[string]bool{
			"GPTBot":          {"/": false, "/press%20kit/1": true},
			"Googlebot":       {"/private": true, "/q?a={b}": false},
			"Googlebot-Image": {"/private": true, "/q?a={b}": false},
			"bingbot":         {"/private": false, "/": true},
		} {
			for path, allowed := range paths {
				if _, _, code := harness.Command(t, served, "robots-guard", "check", "--robots", "-", "--token", token, path); (code == 0) != allowed {
					t.Errorf("%s: %s may fetch %s: exit %d\n%s", host, token, path, code, served)
				}
			}
		}
	}
	for stdin, want := range map[string]string{
		"<html>":        "is a web page and no robots.txt",
		`{"rules": []}`: "it is a list of rules already",
	} {
		if _, stderr, code := harness.Command(t, stdin, "robots-guard", "managed", "import", "-"); code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d: %s", stdin, code, stderr)
		}
	}
}

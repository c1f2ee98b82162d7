package neighbours

import (
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestIncludes checks a page and a robots.txt that include disallowed parts with
// httpInclude. The parts are served within an allowed page. A direct request of a
// crawler for a part is blocked, even if it imitates a template.
func TestIncludes(t *testing.T) {
	t.Parallel()
	root := harness.Files(t, map[string]string{
		"robots.txt": `{{httpInclude "/inc/rules"}}`, "inc/rules": "User-agent: *\nDisallow: /inc/\n",
		"index.html": `page {{httpInclude "/inc/header"}}`, "inc/header": `header {{httpInclude "/inc/deep"}}`, "inc/deep": "deep",
	})
	s := harness.Serve(t, "http://a.test:$PORT {\nrobots_guard enforce\nroot $ROOT\ntemplates {\nmime text/plain text/html\n}\n"+
		"@inc path /inc/*\nheader @inc Content-Type text/html\nfile_server\n}", "$ROOT", root)
	s.Warm("/robots.txt")
	earlier := s.Metrics().Sum(harness.RequestsMetric)
	for _, userAgent := range []string{harness.Googlebot, harness.GPTBot} {
		harness.Visits(t, s, []harness.Visit{
			{userAgent, "/", 200, "page header deep"},
			{userAgent, "/robots.txt", 200, "Disallow: /inc/"},
			{userAgent, "/inc/header", 403, "Disallow: /inc/"},
		})
		if a := harness.Get(t, s.URL("/inc/header"), userAgent, harness.Header("Caddy-Templates-Include", "1")); a.Status != 403 {
			t.Errorf("%s got %d for a request that imitates a template", userAgent, a.Status)
		}
	}
	harness.Visits(t, s, []harness.Visit{{harness.Firefox, "/", 200, "page header deep"}})
	if n := s.Metrics().Sum(harness.RequestsMetric) - earlier; n != 8 {
		t.Errorf("counted %v requests, want the 8 of crawlers", n)
	}
}

package directive

import (
	"net/http"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestErrorRoutes checks sites whose error routes serve files or a proxy. The guard
// writes its own response to a blocked request. Only the directive error in
// on_violation passes a block to the error routes.
func TestErrorRoutes(t *testing.T) {
	t.Parallel()
	robots := "User-agent: *\nDisallow: /private/\n"
	root := harness.Files(t, map[string]string{"robots.txt": robots, "private/x.txt": "SECRET", "404.html": "our error page"})
	o := harness.NewOrigin(t, robots, nil)
	const own = "does not allow bingbot"
	tests := []struct {
		name, guard, site, want string
		status                  int
	}{
		{"no error routes", "robots_guard enforce", "", own, 403},
		{"files after a rewrite", "robots_guard enforce", "handle_errors {\n rewrite 404.html\n file_server\n}", own, 403},
		{"files", "robots_guard enforce", "handle_errors {\n file_server\n}", own, 403},
		{"a proxy", "robots_guard enforce", "handle_errors {\n reverse_proxy $ORIGIN\n}", own, 403},
		{"a page for the status", "robots_guard enforce", "handle_errors 403 {\n respond page\n}", own, 403},
		{"a different status", "robots_guard enforce {\n status 451\n}", "handle_errors 451 {\n file_server\n}", own, 451},
		{"a guard in error routes", "robots_guard enforce", "handle_errors {\n robots_guard enforce\n respond page\n}", own, 403},
		{"on_violation", "robots_guard enforce {\n on_violation {\n respond \"{http.robots_guard.rule}\" 410\n }\n}", "handle_errors {\n file_server\n}", "Disallow: /private/", 410},
		{"on_violation with error", "robots_guard enforce {\n on_violation {\n error 403\n }\n}", "handle_errors {\n respond \"{err.status_code} {http.robots_guard.line}\"\n}", "403 2", 403},
		{"on_violation with error and no error routes", "robots_guard enforce {\n on_violation {\n error 404\n }\n}", "", "", 404},
		{"on_violation with error and a page", "robots_guard enforce {\n on_violation {\n error 403\n }\n}", "handle_errors {\n rewrite * /404.html\n file_server\n}", "our error page", 403},
	}
	var config strings.Builder
	for i, tc := range tests {
		config.WriteString("http://" + string(rune('a'+i)) + ".test:$PORT {\n " + tc.guard + "\n root $ROOT\n file_server\n " + tc.site + "\n}\n")
	}
	s := harness.Serve(t, config.String(), "$ROOT", root, "$ORIGIN", o.Address())
	for i, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			host := "http://" + string(rune('a'+i)) + ".test"
			s.Warm(host + "/")
			if a := harness.Get(t, s.URL(host+"/private/x.txt"), harness.Firefox); a.Status != http.StatusOK || a.Body != "SECRET" {
				t.Errorf("a browser got %d %q", a.Status, a.Body)
			}
			if a := harness.Get(t, s.URL(host+"/none"), harness.Bingbot); a.Status != http.StatusNotFound && strings.Contains(a.Body, own) {
				t.Errorf("a crawler got %d %q for a missing page", a.Status, a.Body)
			}
			if a := harness.Get(t, s.URL(host+"/private/x.txt"), harness.Bingbot); a.Status != tc.status || !strings.Contains(a.Body, tc.want) {
				t.Errorf("a crawler got %d %q, want %d %q", a.Status, a.Body, tc.status, tc.want)
			} else if stored := a.Header.Get("Cache-Control") != "no-store"; stored && tc.name != "on_violation" {
				t.Errorf("a cache may store the block: %v", a.Header)
			}
		})
	}
}

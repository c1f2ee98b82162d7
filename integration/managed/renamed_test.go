package managed

import (
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestBaseOfAHostThatIsRenamed reloads a configuration that gives a host its own site or a
// second server, or undoes that. The server keeps the host's last good base. If the base is
// unavailable then, crawlers do not get an error for robots.txt.
func TestBaseOfAHostThatIsRenamed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ before, after string }{
		"from a wildcard": {"http://*.test:$PORT", "http://a.test:$PORT"},
		"to a catch-all":  {"http://a.test:$PORT", "http://:$PORT"},
		"another server":  {"http://a.test:$PORT", "http://a.test:$PORT {\n import site\n}\nhttp://a.test:$OTHER"},
		"one server less": {"http://a.test:$PORT {\n import site\n}\nhttp://a.test:$OTHER", "http://a.test:$PORT"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := harness.NewOrigin(t, "User-agent: *\nDisallow: /private/\n", nil)
			s := harness.ServeReloadable(t, o)
			other := harness.FreePort(t)
			config := func(address string) string {
				globals, _, _ := strings.Cut(s.Config, "http://a.test")
				site := "(site) {\n robots_txt {\n disallow ai_training\n }\n reverse_proxy " + o.Address() + "\n}\n"
				return globals + site + strings.NewReplacer("$PORT", s.Port, "$OTHER", other).Replace(address+" {\n import site\n}\n")
			}
			serves := func() {
				t.Helper()
				harness.Visits(t, s.Server, []harness.Visit{{harness.Bingbot, "/robots.txt", 200, "Disallow: /private/\n\n# Added by robots_txt"}})
			}
			s.MustLoad(config(tc.before))
			serves()
			o.GoDown()
			s.MustLoad(config(tc.after))
			serves()
		})
	}
}

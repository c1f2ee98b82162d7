package managed

import (
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestSameHostAtTwoServers checks that the same host at two servers belongs to two
// sites. The robots.txt of one, which disallows everything, never becomes the base of
// the other.
func TestSameHostAtTwoServers(t *testing.T) {
	t.Parallel()
	open := harness.NewOrigin(t, "User-agent: *\nDisallow: /private\n", nil)
	closed := harness.NewOrigin(t, "User-agent: *\nDisallow: /\n", nil)
	other := harness.FreePort(t)
	s := harness.Serve(t, `(managed) {
		robots_txt {
			disallow GPTBot
		}
	}
	http://:$PORT {
		import managed
		reverse_proxy $OPEN
	}
	http://:$OTHER {
		import managed
		reverse_proxy $CLOSED
	}`, "$OPEN", open.Address(), "$CLOSED", closed.Address(), "$OTHER", other)
	for url, want := range map[string]string{
		"http://127.0.0.1:" + other + "/robots.txt": "Disallow: /\n",
		s.URL("/robots.txt"):                        "Disallow: /private\n",
	} {
		if a := harness.Get(t, url, harness.Googlebot, harness.Host("a.test")); !strings.HasPrefix(a.Body, "User-agent: *\n"+want) {
			t.Errorf("%s serves %q, want %q", url, a.Body, want)
		}
	}
}

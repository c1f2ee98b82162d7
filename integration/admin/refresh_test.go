package admin

import (
	"net/http"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestRefreshBehindAProxy refreshes the robots.txt of a site that has https only at the
// proxy. The guard fetches as the proxy does, once the proxy has sent a request.
func TestRefreshBehindAProxy(t *testing.T) {
	t.Parallel()
	origin, robots := harness.NewChangingOrigin(t, harness.ClosedRobots)
	admin := "127.0.0.1:" + harness.FreePort(t)
	s := harness.Serve(t, `
http://a.test:$PORT {
	robots_guard enforce
	@insecure not header X-Forwarded-Proto https
	redir @insecure https://a.test{uri}
	reverse_proxy $ORIGIN
}
`, "admin off", "admin "+admin, "$GLOBAL", "servers {\n trusted_proxies static 127.0.0.0/8\n}", "$ORIGIN", origin.Address())
	secure := harness.Header("X-Forwarded-Proto", "https")
	harness.Eventually(t, "it is enforced", func() bool {
		return harness.Get(t, s.URL("/private/x"), harness.Bingbot, secure).Status == http.StatusForbidden
	})
	robots.Store(harness.ClosedRobots + "Disallow: /new/\n")
	out, problem, code := harness.Command(t, "", "robots-guard", "status", "--address", admin, "--refresh", "https://a.test")
	if row := strings.Join(strings.Fields(out), " "); code != 0 || !strings.Contains(row, "https://a.test new version") {
		t.Errorf("exit status %d: %s%s", code, out, problem)
	}
}

// TestStatusBeforeAnyCrawler checks that a new owner can see whether robots.txt is
// available before the first request of a crawler.
func TestStatusBeforeAnyCrawler(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, harness.ClosedRobots, nil)
	admin := "127.0.0.1:" + harness.FreePort(t)
	s := harness.Serve(t, `
http://a.test:$PORT, http://*.b.test:$PORT {
	robots_guard enforce
	reverse_proxy $ORIGIN
}
`, "admin off", "admin "+admin, "$ORIGIN", o.Address())
	status := func(args ...string) (out, problem string, code int) {
		return harness.Command(t, "", append([]string{"robots-guard", "status", "--address", admin}, args...)...)
	}
	if out, problem, code := status(); code != 0 || !strings.Contains(out, "not fetched yet") {
		t.Errorf("exit status %d: %s%s", code, out, problem)
	}
	authority := strings.TrimSuffix(strings.TrimPrefix(s.URL("/"), "http://"), "/")
	var out, problem string
	code := 2
	harness.Eventually(t, "the guard has started", func() bool { // Caddy listens before that
		out, problem, code = status("--refresh", authority)
		return code != 2
	})
	if code != 0 || !strings.Contains(out, "first version") || o.Requests("/robots.txt") != 1 {
		t.Errorf("--refresh %s: exit status %d: %s%s", authority, code, out, problem)
	}
	if out, problem, code := status(); code != 0 || !strings.Contains(out, authority) {
		t.Errorf("exit status %d: %s%s", code, out, problem)
	}
	for _, unknown := range []string{"c.test", "any.b.test", "a.test:1", "https://a.test"} {
		if out, problem, code := status("--refresh", unknown); code != 2 || !strings.Contains(problem, "there is no policy for") {
			t.Errorf("--refresh %s: exit status %d: %s%s", unknown, code, out, problem)
		}
	}
}

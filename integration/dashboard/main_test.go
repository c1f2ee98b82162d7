package dashboard

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
	"github.com/robotsguard/caddy-robots-guard/internal/dashboard"
)

func TestMain(m *testing.M) {
	harness.Suite{After: func() {
		if chromium.cancel != nil {
			chromium.cancel()
		}
	}}.Main(m)
}

// serveDay serves the page with the data of a scripted day and returns its URL.
func serveDay(t *testing.T, day dashboard.Views) string {
	t.Helper()
	return serveAlerts(t, day, dayAlerts())
}

// serve runs the built binary with a Caddyfile. $PORT in the Caddyfile stands for its
// port.
func serve(t *testing.T, caddyfile string) *harness.Server {
	t.Helper()
	port := harness.FreePort(t)
	text := "{\n\tadmin off\n\tpersist_config off\n}\n" + strings.ReplaceAll(caddyfile, "$PORT", port)
	s := harness.Start(t, text, "127.0.0.1:"+port)
	s.Port = port
	return s
}

// crawl sends a request for a path of a host and returns the status. It writes the
// bytes of the request itself, because Go's client cannot send all of them.
func crawl(t *testing.T, s *harness.Server, host, path, userAgent string) int {
	t.Helper()
	return harness.RawAnswer(t, s, fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s:%s\r\nUser-Agent: %s\r\nConnection: close\r\n\r\n",
		path, host, s.Port, userAgent)).Status
}

// awaitPolicy waits until the guard has fetched the robots.txt of a host.
func awaitPolicy(t *testing.T, s *harness.Server, host, path, userAgent string) {
	t.Helper()
	harness.Eventually(t, "a request is blocked", func() bool { return crawl(t, s, host, path, userAgent) == http.StatusForbidden })
}

package forward

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// silent runs a decision point that accepts connections and never responds. It returns
// the port.
func silent(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port // the operating system accepts connections, but nothing reads from them
}

// TestProxiesWithoutAnswer tests each proxy with a decision point that does not listen,
// and one that does not respond. A visitor waits for one attempt and no longer.
func TestProxiesWithoutAnswer(t *testing.T) {
	t.Parallel()
	for name, status := range without {
		for what, tc := range map[string]struct {
			port  func(*testing.T) string
			after time.Duration // the timeout of the example, plus time for a busy machine
		}{
			"not listening": {func(t *testing.T) string { return harness.FreePort(t) }, 2500 * time.Millisecond},
			"no response":   {silent, 6 * time.Second},
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				t.Parallel()
				s := beside(t)
				s.Port = tc.port(t)
				s.front(t, name)
				begun := time.Now()
				got, body := s.raw(t, harness.Firefox, "/public/")
				want := status
				if want == 502 && what == "no response" {
					want = 504
				}
				if took := time.Since(begun); got != want || took > tc.after {
					t.Errorf("%d %.200q after %v, want %d within %v", got, body, took, want, tc.after)
				}
			})
		}
	}
}

// TestProxiesOppositeFallback tests the opposite behaviour without a response, which the
// comments in the configurations describe.
func TestProxiesOppositeFallback(t *testing.T) {
	t.Parallel()
	closed := []string{"pass_without = true", "pass_without = false"}
	for name, tc := range map[string]struct {
		edits  []string
		status int
	}{
		"nginx":   {[]string{"# error_page 502", "error_page 502", "# location @robots_nobody", "location @robots_nobody"}, 200},
		"haproxy": {closed, 503},
		"apache":  {closed, 503},
		"traefik": {[]string{"service: robots-guard # or-pass", "service: or-pass #", "# or-pass: {", "or-pass: {", "# ping: {", "ping: {"}, 200},
	} {
		for what, port := range map[string]func(*testing.T) string{
			"not listening": func(t *testing.T) string { return harness.FreePort(t) },
			"no response":   silent,
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				t.Parallel()
				s := beside(t)
				s.Port, s.edits = port(t), tc.edits
				s.front(t, name)
				if got, body := s.raw(t, harness.Firefox, "/public/"); got != tc.status || strings.Contains(body, "origin") != (tc.status == 200) {
					t.Errorf("%d %.200q, want %d", got, body, tc.status)
				}
			})
		}
	}
}

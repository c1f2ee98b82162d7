package managed

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// A new robots.txt of the site itself that closes it to search engines waits, over a
// kill, until somebody confirms it; one that closes nothing counts at once.
func TestBaseWaitsForConfirmation(t *testing.T) {
	t.Parallel()
	var own atomic.Value
	own.Store("User-agent: *\nDisallow: /private/\n")
	o := harness.NewOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/robots.txt" {
			fmt.Fprint(w, own.Load())
		}
		return r.URL.Path == "/robots.txt"
	})
	s := &site{t: t, home: t.TempDir(), port: harness.FreePort(t), admin: harness.FreePort(t), behind: "reverse_proxy " + o.Address()}
	s.start(harmless)
	serves := func(step, want string) {
		t.Helper()
		harness.Eventually(t, step, func() bool {
			text := s.read()
			return strings.Contains(text, "User-agent: *\n"+want+"\n") && strings.Contains(text, "User-agent: GPTBot\n")
		})
	}
	serves("at the start", "Disallow: /private/")
	own.Store("User-agent: *\nDisallow: /\n")
	if err := s.load(harmless + "\nmax_age 2h"); err != nil { // reads the base again
		t.Fatal(err)
	}
	waits := func(step string) {
		t.Helper()
		harness.Eventually(t, step, func() bool {
			if text := s.read(); !strings.Contains(text, "User-agent: *\nDisallow: /private/\n") {
				t.Fatalf("%s: %q", step, text)
			}
			out, _ := s.managed("changes")
			return strings.Contains(out, "base of http://a.test waits for confirmation") && strings.Contains(out, "Googlebot, bingbot, YandexBot and") &&
				strings.Contains(out, "+ Disallow: /\n")
		})
	}
	waits("it waits")
	s.Kill()
	s.start(harmless)
	waits("after the restart")
	if n := harness.ReadMetrics(t, "http://127.0.0.1:"+s.admin+"/metrics").Sum("caddy_robots_guard_changes_waiting"); n != 1 {
		t.Errorf("changes_waiting is %v", n)
	}
	if out, code := s.managed("confirm", "--why", "the shop is closed"); code != 0 || !strings.Contains(out, "was confirmed") {
		t.Errorf("confirm exits with %d: %s", code, out)
	}
	serves("once it is confirmed", "Disallow: /")
	own.Store("User-agent: *\nDisallow: /open\n")
	if err := s.load(harmless + "\nmax_age 3h"); err != nil {
		t.Fatal(err)
	}
	serves("a text that closes nothing", "Disallow: /open")
	if out, _ := s.managed("history"); !strings.Contains(out, "confirmed at") || !strings.Contains(out, "the shop is closed") {
		t.Errorf("the history is %s", out)
	}
}

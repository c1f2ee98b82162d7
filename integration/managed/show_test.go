package managed

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// TestShow checks that the command shows the served robots.txt line by line with its
// rules, and the scheduled changes. robots_guard uses the same file.
func TestShow(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, "User-agent: *\nDisallow: /private/\n", nil)
	s := harness.ServeReloadable(t, o)
	if status, body := s.Load(s.Named("a.test", `robots_txt {
		disallow GPTBot
		rule sale {
			for *
			disallow /sale
			from 2099-11-27T00:00:00Z
			reason "load of the sale"
		}
	}`)); status != 200 {
		t.Fatalf("got %d %s", status, body)
	}
	served := harness.Get(t, s.URL("/robots.txt"), harness.Googlebot, harness.Host("a.test")).Body
	show := func(args ...string) string {
		t.Helper()
		stdout, stderr, code := harness.Command(t, "", append([]string{"robots-guard", "managed", "show", "--address", "127.0.0.1:" + s.Admin}, args...)...)
		if code != 0 {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		return stdout
	}
	if all := show(); !strings.HasPrefix(all, "a.test: version ") || !strings.Contains(all, "rules in force: 1\n") || !strings.Contains(all, "next change: 2099-11-27 00:00 UTC") {
		t.Errorf("got %q", all)
	}
	one := show("a.test")
	for _, want := range []string{"rule sale (to come)\n  Disallow: /sale\n", "reason: load of the sale", "Disallow: /                               <- disallow GPTBot\n"} {
		if !strings.Contains(one, want) {
			t.Errorf("%q is not in\n%s", want, one)
		}
	}
	var m report.ManagedRobots
	if err := json.Unmarshal([]byte(show("a.test", "--json")), &m); err != nil || m.Detail == nil || m.Detail.Text != served {
		t.Errorf("%v: %+v, but the server serves %q", err, m, served)
	}
	if _, stderr, code := harness.Command(t, "", "robots-guard", "managed", "show", "b.test", "--address", "127.0.0.1:"+s.Admin); code == 0 || !strings.Contains(stderr, "no robots_txt is configured for the host") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

package storage

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

func TestReloadKeepsState(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, harness.ClosedRobots, nil)
	s := harness.ServeReloadable(t, o)
	s.Warm("/")
	block := func() {
		t.Helper()
		if a := harness.Get(t, s.URL("/private/x"), harness.Bingbot); a.Status != 403 {
			t.Errorf("got %d", a.Status)
		}
	}
	blocked := func() float64 { return s.Metrics().Sum(harness.RequestsMetric, `action="blocked"`) }
	block()
	if n := blocked(); n != 1 {
		t.Fatalf("%v requests counted as blocked, want 1", n)
	}

	if status, body := s.Load(s.Named("second", "")); status != 200 {
		t.Fatalf("reload: %d %s", status, body)
	}
	if name := harness.Get(t, s.URL("/"), harness.Firefox).Header.Get("X-Config"); name != "second" {
		t.Fatalf("the configuration is %q", name)
	}
	// The guard does not wait for a fetch for an HTTP library, so a block shows that
	// the policy is still cached.
	block()
	if n := blocked(); n != 2 {
		t.Errorf("%v requests counted as blocked after a reload, want 2", n)
	}

	// Loads that fail at different stages.
	for name, caddyfile := range map[string]string{
		"syntax":    s.Named("bad", "robots_guard nonsense"),
		"contra":    s.Named("bad", "robots_guard {\n exempt Googlebot\n only_log Googlebot\n }"),
		"provision": s.Named("bad", "tls_not_known_directive"),
		"later":     s.Named("bad", "templates {\n between only_one\n }"),
		"start":     s.Named("bad", "") + fmt.Sprintf("http://:%s {\n bind 192.0.2.1\n robots_guard enforce\n}\n", harness.FreePort(t)),
	} {
		if status, body := s.Load(caddyfile); status == 200 {
			t.Errorf("%s: an invalid configuration was loaded: %s", name, body)
		}
		if name := harness.Get(t, s.URL("/"), harness.Firefox).Header.Get("X-Config"); name != "second" {
			t.Errorf("after a failed load the configuration is %q", name)
		}
	}
	block()
	if n := blocked(); n != 3 {
		t.Errorf("%v requests counted as blocked after failed loads, want 3", n)
	}
	if status, body := s.Load(s.Named("third", "")); status != 200 {
		t.Fatalf("reload: %d %s", status, body)
	}
	block()
	if n := blocked(); n != 4 {
		t.Errorf("%v requests counted as blocked after failed loads and a reload, want 4", n)
	}
	harness.Eventually(t, "a reload has the robots.txt read again", func() bool { return o.Requests("/robots.txt") > 1 })
	if n := s.Metrics().Sum("caddy_robots_guard_policies_cached", `segment="named"`); n != 1 {
		t.Errorf("%v policies are cached, want 1", n)
	}
}

// TestReloadChangesSettings reloads with other modes. The state stays, and the settings
// change.
func TestReloadChangesSettings(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, harness.ClosedRobots, nil)
	s := harness.ServeReloadable(t, o)
	s.Warm("/")
	for i, tc := range []struct {
		directive string
		status    int
	}{
		{"robots_guard monitor", 200},
		{"robots_guard enforce {\n status 410\n }", 410},
		{"robots_guard enforce {\n exempt bingbot\n }", 200},
		{"# none", 200},
		{"robots_guard enforce", 403},
	} {
		config := strings.Replace(s.Named(fmt.Sprint(i), ""), "robots_guard enforce", tc.directive, 1)
		if status, body := s.Load(config); status != 200 {
			t.Fatalf("%s: %d %s", tc.directive, status, body)
		}
		// The configuration without a guard drops the state, so the next one fetches
		// robots.txt again.
		harness.Eventually(t, fmt.Sprintf("%s responds with %d", tc.directive, tc.status), func() bool {
			return harness.Get(t, s.URL("/private/x"), harness.Bingbot).Status == tc.status
		})
	}
}

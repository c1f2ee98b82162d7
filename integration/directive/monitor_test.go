package directive

import (
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

func TestMonitor(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"", "monitor"} {
		t.Run("mode "+mode, func(t *testing.T) {
			t.Parallel()
			s := harness.Serve(t, harness.RuledSite, "$MODE", mode)
			s.Warm("/")
			harness.Visits(t, s, []harness.Visit{
				{harness.GPTBot, "/", 200, "page /"},
				{harness.Bingbot, "/private/x", 200, "page /private/x"},
				{harness.Bingbot, "/", 200, "page /"},
				{harness.Firefox, "/private/x", 200, "page /private/x"},
				{"acmescraper/1.0", "/x", 200, "page"},
			})
			lines := s.Await("request disallowed by robots.txt", 3)
			if len(lines) != 3 {
				t.Fatalf("got %d lines about violations, want 3", len(lines))
			}
			for _, line := range lines {
				if line["level"] != "info" || line["action"] != "logged" || line["verdict"] != "disallowed" {
					t.Errorf("got %v", line)
				}
			}
			got := s.Metrics()
			if n := got.Sum(harness.RequestsMetric, `action="logged"`); n != 3 {
				t.Errorf("%v requests counted as logged, want 3", n)
			}
			if n := got.Sum(harness.RequestsMetric, `action="blocked"`); n != 0 {
				t.Errorf("%v requests counted as blocked", n)
			}
		})
	}
}

package integration

import (
	"testing"
)

func TestMonitor(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"", "monitor"} {
		t.Run("mode "+mode, func(t *testing.T) {
			t.Parallel()
			s := serve(t, ruled, "$MODE", mode)
			s.warm("/")
			visits(t, s, []visit{
				{gptBot, "/", 200, "page /"},
				{bingbot, "/private/x", 200, "page /private/x"},
				{bingbot, "/", 200, "page /"},
				{firefox, "/private/x", 200, "page /private/x"},
				{"acmescraper/1.0", "/x", 200, "page"},
			})
			lines := s.await("request outside robots.txt", 3)
			if len(lines) != 3 {
				t.Fatalf("got %d lines about violations, want 3", len(lines))
			}
			for _, line := range lines {
				if line["level"] != "info" || line["action"] != "logged" || line["verdict"] != "disallowed" {
					t.Errorf("got %v", line)
				}
			}
			got := s.metrics()
			if n := got.sum(requestsMetric, `action="logged"`); n != 3 {
				t.Errorf("%v requests counted as logged, want 3", n)
			}
			if n := got.sum(requestsMetric, `action="blocked"`); n != 0 {
				t.Errorf("%v requests counted as blocked", n)
			}
		})
	}
}

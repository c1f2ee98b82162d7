package managed

import (
	"net/http"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestMetrics checks that metrics count the activity of robots_txt, even without
// robots_guard.
func TestMetrics(t *testing.T) {
	t.Parallel()
	failing := harness.NewOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		http.Error(w, "down", http.StatusBadGateway)
		return true
	})
	s := harness.Serve(t, `http://a.test:$PORT {
		robots_txt {
			base none
			disallow ai_training
		}
	}
	http://b.test:$PORT {
		robots_txt {
			disallow ai_training
		}
		reverse_proxy $ORIGIN
	}`, "$ORIGIN", failing.Address())
	const asked = 5
	for range asked {
		harness.Get(t, s.URL("/robots.txt"), harness.Googlebot, harness.Host("a.test"))
	}
	harness.Get(t, s.URL("/robots.txt"), harness.Googlebot, harness.Host("b.test"))
	all := s.Metrics()
	for name, want := range map[string]float64{
		`caddy_robots_guard_composed_lookups_total{result="hit"}`:    asked - 1,
		`caddy_robots_guard_composed_lookups_total{result="miss"}`:   1,
		`caddy_robots_guard_compose_duration_seconds_count`:          1,
		`caddy_robots_guard_compose_duration_seconds_bucket{le="5"}`: 1,
		`caddy_robots_guard_compose_errors_total{stage="base"}`:      1,
		`caddy_robots_guard_compose_errors_total{stage="gate"}`:      0,
	} {
		if got := all.Sum(name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

package prometheus

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestMetrics sends a known mix of requests and compares all metrics, including labels.
func TestMetrics(t *testing.T) {
	t.Parallel()
	o := harness.NewOrigin(t, harness.ClosedRobots+"\nUser-agent: zorkly\nDisallow: /\n", nil)
	s := harness.Serve(t, `http://a.test:$PORT {
		robots_guard enforce {
			exempt archive
			only_log Googlebot
		}
		reverse_proxy $ORIGIN
	}
	http://b.test:$PORT, http://*.c.test:$PORT {
		robots_guard monitor
		reverse_proxy $ORIGIN
	}`, "$ORIGIN", o.Address())
	s.Warm("http://a.test/", "http://b.test/", "http://x.c.test/")
	before := s.Metrics()

	want := make(harness.Samples)
	send := func(times int, url, userAgent, labels string) {
		for range times {
			harness.Get(t, s.URL(url), userAgent)
		}
		if labels != "" {
			want[harness.RequestsMetric+"{"+labels+"}"] += float64(times)
		}
	}
	series := func(action, class, crawler, host, verdict string) string {
		return fmt.Sprintf(`action="%s",class="%s",crawler="%s",host="%s",identity="claimed",verdict="%s"`, action, class, crawler, host, verdict)
	}
	send(3, "http://a.test/private/x", harness.Bingbot, series("blocked", "search", "bingbot", "a.test", "disallowed"))
	send(2, "http://a.test/page", harness.Bingbot, series("none", "search", "bingbot", "a.test", "allowed"))
	send(2, "http://A.Test/page", "BINGBOT/2.0", series("none", "search", "bingbot", "a.test", "allowed"))
	send(1, "http://a.test/private/x", harness.Googlebot, series("logged", "search", "Googlebot", "a.test", "disallowed"))
	send(4, "http://a.test/page", harness.GPTBot, series("blocked", "ai_training", "GPTBot", "a.test", "disallowed"))
	send(2, "http://a.test/robots.txt", harness.GPTBot, series("none", "ai_training", "GPTBot", "a.test", "allowed"))
	send(1, "http://a.test/private/x", harness.UptimeRobot, series("none", "monitor", "UptimeRobot", "a.test", "exempt"))
	send(1, "http://a.test/private/x", "Mozilla/5.0 (compatible; archive.org_bot +http://archive.org/details/archive.org_bot)", series("none", "archive", "archive.org_bot", "a.test", "exempt"))
	send(5, "http://a.test/private/x", harness.Firefox, "")
	send(5, "http://a.test/private/x", "", "")
	send(2, "http://a.test/private/x", harness.FooBot, series("blocked", "crawler", "_other", "a.test", "disallowed"))
	send(1, "http://a.test/x", "Zorkly/1.0", series("blocked", "other", "zorkly", "a.test", "disallowed"))
	send(1, "http://a.test/x", "MyApp/1.0", series("none", "other", "_other", "a.test", "exempt"))
	send(2, "http://b.test/private/x", harness.Bingbot, series("logged", "search", "bingbot", "b.test", "disallowed"))
	send(2, "http://x.c.test/private/x", harness.Bingbot, series("logged", "search", "bingbot", "*.c.test", "disallowed"))
	send(1, "http://a.test/private/x", harness.Curl, series("none", "library", "curl", "a.test", "exempt"))

	got := make(harness.Samples)
	after := s.Metrics()
	for name, value := range after.Of(harness.RequestsMetric) {
		name = harness.RequestsMetric + name
		if n := value - before[name]; n != 0 {
			got[name] = n
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s is %v, want %v", name, got[name], want[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			t.Errorf("unexpected %s with value %v", name, got[name])
		}
	}
	// One fetch for each host.
	if n := after[harness.FetchesMetric+`{result="rules",source="server"}`]; n != 3 || after.Sum(harness.FetchesMetric) != n {
		t.Errorf("%v fetches of robots.txt, want 3: %v", n, after.Of(harness.FetchesMetric))
	}
	if n := after.Sum("caddy_robots_guard_fetch_duration_seconds_count"); n != 3 {
		t.Errorf("%v durations, want 3", n)
	}
	if n := after.Sum("caddy_robots_guard_policies_cached"); n != 3 {
		t.Errorf("%v policies are cached, want 3", n)
	}
}

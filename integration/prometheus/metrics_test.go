package prometheus

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
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

// TestMetricsFindings checks the metrics about findings in robots.txt.
func TestMetricsFindings(t *testing.T) {
	t.Parallel()
	s := harness.Serve(t, `http://a.test:$PORT {
		robots_guard
		respond /robots.txt "Disallow: /before
User-agent: *
Disalow: /typo
Disallow: noslash
Disallow: alsonone"
		respond "page"
	}`)
	s.Warm("/")
	want := harness.Samples{
		`{finding="rule-outside-group",host="a.test"}`: 1,
		`{finding="misspelt-key",host="a.test"}`:       1,
		`{finding="rule-without-slash",host="a.test"}`: 2,
	}
	var got harness.Samples
	harness.Eventually(t, "findings are counted", func() bool {
		got = s.Metrics().Of("caddy_robots_guard_findings")
		return len(got) > 0
	})
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestMetricsInvented sends requests of many unknown crawlers for many unknown hosts.
// They must not become labels, and their memory must be bounded.
func TestMetricsInvented(t *testing.T) {
	t.Parallel()
	s := harness.Serve(t, `http://a.test:$PORT {
		robots_guard monitor
		respond /robots.txt "User-agent: *
Disallow: /private/"
		respond "page"
	}
	http://:$PORT {
		robots_guard monitor
		respond /robots.txt "User-agent: *
Disallow: /private/"
		respond "page"
	}`)
	s.Warm("/")
	invent := harness.NewClient(false)
	invent.Transport.(*http.Transport).DisableKeepAlives = false
	const crawlers, hosts = 1000, 1500
	next := make(chan int)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for i := range next {
				url, userAgent := s.URL("/private/x"), fmt.Sprintf("Invented%dBot/1.0 (+http://invented.example/%d)", i, i)
				if i >= crawlers {
					url, userAgent = "http://127.0.0.1:"+s.Port+"/private/x", harness.Bingbot
				}
				_, err := harness.Try(invent, url, userAgent, func(r *http.Request) {
					if i >= crawlers {
						r.Host = fmt.Sprintf("h%d.invented.test:%s", i, s.Port)
					}
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range crawlers + hosts {
		next <- i
	}
	close(next)
	workers.Wait()

	all := s.Metrics()
	for name := range all.Of(harness.RequestsMetric) {
		if !strings.Contains(name, `crawler="_other"`) && !strings.Contains(name, `crawler="bingbot"`) ||
			!strings.Contains(name, `host="a.test"`) && !strings.Contains(name, `host="_other"`) || strings.Contains(name, "nvented") {
			t.Errorf("an unknown name in a label: %s", name)
		}
	}
	if n := len(all.Of(harness.RequestsMetric)); n > 6 {
		t.Errorf("%d series, want a handful", n)
	}
	if n := all.Sum(harness.RequestsMetric, `crawler="_other"`, `host="a.test"`); n != crawlers {
		t.Errorf("counted %v requests of unknown crawlers, want %d", n, crawlers)
	}
	if n := all.Sum(harness.RequestsMetric, `crawler="bingbot"`, `host="_other"`); n != hosts {
		t.Errorf("counted %v requests for unknown hosts, want %d", n, hosts)
	}
	if n := all.Sum("caddy_robots_guard_policies_cached", "invented"); n > 1000 || n == 0 {
		t.Errorf("%v policies of unknown hosts are cached, want at most 1000", n)
	}
	if n := all.Sum("caddy_robots_guard_policies_evicted_total", "invented"); n < hosts-1000 {
		t.Errorf("%v of %d unknown hosts were evicted", n, hosts)
	}
	if n := all.Sum("caddy_robots_guard_policies_cached", "named"); n != 1 {
		t.Errorf("%v policies of named hosts are cached, want 1", n)
	}
	// The named site is unaffected, and unknown hosts do not flood the log.
	if a := harness.Get(t, s.URL("/private/x"), harness.Bingbot); a.Status != 200 {
		t.Errorf("got %d", a.Status)
	}
	if n := len(s.Lines("request disallowed by robots.txt")); n > 50 {
		t.Errorf("%d lines in the log", n)
	}
	if n := len(s.Lines("robots.txt read")); n > 3 {
		t.Errorf("%d lines about robots.txt files in the log", n)
	}
}

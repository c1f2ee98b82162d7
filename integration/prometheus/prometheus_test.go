package prometheus

import (
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// watchedSites are the sites of the script. a.test works except for a misspelt line.
// b.test stops responding. c.test one day disallows all crawlers. d.test is visited by
// more crawlers than the limit of labels.
const watchedSites = `
http://a.test:$PORT, http://d.test:$PORT {
	robots_guard enforce {
		ttl 1s 1s
	}
	reverse_proxy $A
}
http://b.test:$PORT {
	robots_guard monitor {
		ttl 1s 1s
	}
	reverse_proxy $B
}
http://c.test:$PORT {
	robots_guard enforce {
		ttl 1s 1s
		change_guard 1h
	}
	reverse_proxy $C
}
`

// script sends requests and records the expected counts.
type script struct {
	t    *testing.T
	s    *harness.Server
	sent map[requestSeries]float64
}

// requestSeries are the labels of caddy_robots_guard_requests_total.
type requestSeries struct{ host, crawler, class, identity, verdict, action string }

func (r requestSeries) String() string {
	return fmt.Sprintf(`{host="%s",crawler="%s",class="%s",identity="%s",verdict="%s",action="%s"}`,
		r.host, r.crawler, r.class, r.identity, r.verdict, r.action)
}

func (c *script) send(times int, host, path, userAgent, crawler, class, verdict, action string) {
	c.t.Helper()
	for range times {
		harness.Get(c.t, c.s.URL("http://"+host+path), userAgent)
	}
	if crawler != "" {
		identity := "claimed"
		if crawler == "Googlebot" { // the only one that can be verified here, but not on the loopback interface
			identity = "unknown"
		}
		c.sent[requestSeries{host, crawler, class, identity, verdict, action}] += float64(times)
	}
}

// sum returns the number of requests that meet a condition.
func (c *script) sum(condition func(requestSeries) bool) (total float64) {
	for series, n := range c.sent {
		if condition(series) {
			total += n
		}
	}
	return total
}

// round sends n times some requests of each kind.
func (c *script) round(n int) {
	c.t.Helper()
	c.send(1*n, "a.test", "/page", harness.Baiduspider, "Baiduspider", "search", "disallowed", "blocked") // named by the file
	c.send(3*n, "a.test", "/page", harness.Bingbot, "bingbot", "search", "allowed", "none")
	c.send(1*n, "a.test", "/private/x", harness.Bingbot, "bingbot", "search", "disallowed", "blocked")
	c.send(2*n, "a.test", "/page", harness.GPTBot, "GPTBot", "ai_training", "disallowed", "blocked")
	c.send(1*n, "a.test", "/robots.txt", harness.GPTBot, "GPTBot", "ai_training", "allowed", "none")
	c.send(1*n, "a.test", "/private/x", harness.FooBot, "_other", "crawler", "disallowed", "blocked")
	c.send(2*n, "a.test", "/private/x", harness.UptimeRobot, "UptimeRobot", "monitor", "exempt", "none")
	c.send(2*n, "a.test", "/private/x", harness.Firefox, "", "", "", "")
	c.send(1*n, "a.test", "/private/x", "", "", "", "", "")
	c.send(2*n, "b.test", "/page", harness.Googlebot, "Googlebot", "search", "allowed", "none")
	c.send(1*n, "b.test", "/robots.txt", harness.Googlebot, "Googlebot", "search", "allowed", "none")
	c.send(1*n, "b.test", "/private/x", harness.Googlebot, "Googlebot", "search", "disallowed", "logged")
	c.send(2*n, "c.test", "/page", harness.Bingbot, "bingbot", "search", "allowed", "none")
}

// TestPrometheus runs a real Prometheus that scrapes the server during a script of
// requests. Every query of the dashboard, the rules and the variables must return data,
// and the numbers must match the script.
func TestPrometheus(t *testing.T) {
	tool(t, "prometheus", "prometheus") // may skip the test before it starts
	t.Parallel()
	var down, closed atomic.Bool
	a := harness.NewOrigin(t, "User-agent: *\nDisallow: /private/\nDisalow: /typo\n\nUser-agent: GPTBot\nUser-agent: Baiduspider\nDisallow: /\n", nil)
	b := harness.NewOrigin(t, harness.ClosedRobots, func(w http.ResponseWriter, r *http.Request) bool {
		if down.Load() && r.URL.Path == "/robots.txt" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		return false
	})
	c := harness.NewOrigin(t, "User-agent: *\nDisallow: /private/\n", func(w http.ResponseWriter, r *http.Request) bool {
		if closed.Load() && r.URL.Path == "/robots.txt" {
			_, _ = io.WriteString(w, "User-agent: *\nDisallow: /\n")
			return true
		}
		return false
	})
	lists := harness.Files(t, map[string]string{"googlebot.txt": "66.249.64.0/19\n", "yandexbot.txt": "127.0.0.1/32\n"})
	s := harness.Serve(t, watchedSites, "$GLOBAL", `robots_guard {
		verify {
			ranges configured
			rdns off
		}
		crawler Googlebot {
			ranges file `+filepath.Join(lists, "googlebot.txt")+`
		}
		crawler YandexBot {
			ranges file `+filepath.Join(lists, "yandexbot.txt")+`
		}
	}`, "$A", a.Address(), "$B", b.Address(), "$C", c.Address())
	p := startPrometheus(t, s.MetricsPort)
	begin := time.Now()
	s.Warm("http://a.test/", "http://b.test/", "http://c.test/", "http://d.test/")

	// scraped waits until Prometheus has scraped the current counts, and returns the
	// time.
	scraped := func() (at time.Time) {
		t.Helper()
		want := s.Metrics().Sum(harness.RequestsMetric)
		harness.Eventually(t, "Prometheus has seen all requests", func() bool {
			at = time.Now()
			return p.value(fmt.Sprintf("sum(%s @ %d.%03d)", harness.RequestsMetric, at.Unix(), at.Nanosecond()/1e6)) == want
		})
		return at
	}
	// increase() ignores the first value of a counter, so each counter gets a first
	// value now.
	traffic := &script{t: t, s: s, sent: make(map[requestSeries]float64)}
	traffic.round(1)
	before := scraped()
	traffic.sent = make(map[requestSeries]float64)
	traffic.round(2)
	after := scraped()

	t.Run("counts", func(t *testing.T) { checkCounts(t, p, traffic, before, after) })
	t.Run("panels", func(t *testing.T) { checkNumbers(t, p, traffic, before, after) })

	// c.test closes. Pages that the crawler may still fetch have the verdict stale. The
	// change guard holds the change, because it affects a search engine. The alert
	// compares the state with the previous one.
	harness.Eventually(t, "Prometheus has seen c.test open for a while", func() bool {
		return p.value(`count_over_time(caddy_robots_guard_root_disallowed{host="c.test"}[1m])`) >= 6
	})
	// The change guard considers only verified search engines.
	const yandex = "Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)"
	harness.Eventually(t, "YandexBot is verified", func() bool {
		harness.Get(t, s.URL("http://c.test/page"), yandex)
		return s.Metrics().Sum(harness.RequestsMetric, `crawler="YandexBot"`, `host="c.test"`, `identity="verified"`) > 0
	})
	closed.Store(true)
	down.Store(true)
	harness.Eventually(t, "b.test cannot be read and c.test is closed", func() bool {
		harness.Get(t, s.URL("http://b.test/page"), harness.Googlebot)
		harness.Get(t, s.URL("http://c.test/page"), yandex)
		m := s.Metrics()
		return m["caddy_robots_guard_unreachable_since_timestamp_seconds"+`{host="b.test"}`] > 0 &&
			m["caddy_robots_guard_root_disallowed"+`{host="c.test"}`] == 1 &&
			m["caddy_robots_guard_change_held"+`{host="c.test"}`] == 1
	})
	for range 3 {
		harness.Get(t, s.URL("http://c.test/page"), harness.Bingbot)
	}
	for _, crawler := range uaident.Default().Crawlers()[:120] {
		harness.Get(t, s.URL("http://d.test/page"), crawler.Token+"/1.0 (+http://crawler.example/)")
	}
	scraped()

	t.Run("queries", func(t *testing.T) { checkQueries(t, p, begin) })
	t.Run("rules", func(t *testing.T) { checkRules(t, p, begin) })
	t.Run("alerts", func(t *testing.T) { checkAlerts(t, p, begin) })
	t.Run("promtool", func(t *testing.T) { checkExposition(t, s, s.MetricsPort) })
}

// at returns an expression that evaluates a selector at a time.
func at(selector string, when time.Time) string {
	return fmt.Sprintf("%s @ %d.%03d", selector, when.Unix(), when.Nanosecond()/1e6)
}

// checkCounts compares each series of requests with the script.
func checkCounts(t *testing.T, p *prometheus, traffic *script, before, after time.Time) {
	got := make(map[requestSeries]float64)
	for _, s := range p.query(at(harness.RequestsMetric, after)+" - "+at(harness.RequestsMetric, before), time.Time{}) {
		if s.value != 0 {
			got[requestSeries{s.labels["host"], s.labels["crawler"], s.labels["class"], s.labels["identity"], s.labels["verdict"], s.labels["action"]}] = s.value
		}
	}
	if !maps.Equal(got, traffic.sent) {
		t.Errorf("got %v, want %v", got, traffic.sent)
	}
}

// inRange matches the dashboard's counts over the visible time range.
var inRange = regexp.MustCompile(`increase\((\w+\{[^{}]*\})\[\$__range\]\)`)

// checkNumbers compares panels that show counts with the script. increase()
// extrapolates, so the test replaces it by the difference of the counters.
func checkNumbers(t *testing.T, p *prometheus, traffic *script, before, after time.Time) {
	outside := func(r requestSeries) bool { return r.verdict == "disallowed" }
	judged := func(r requestSeries) bool { return r.verdict == "disallowed" || r.verdict == "allowed" }
	on := func(host string, f func(requestSeries) bool) func(requestSeries) bool {
		return func(r requestSeries) bool { return r.host == host && f(r) }
	}
	all := func(requestSeries) bool { return true }
	blocked := func(r requestSeries) bool { return r.action == "blocked" }
	panels := make(map[string]panelQuery)
	for _, panel := range readDashboard(t).Panels {
		for _, q := range panel.Targets {
			panels[panel.Title+" "+q.RefID] = q
		}
	}
	ask := func(panel, site string) []sample {
		t.Helper()
		q, ok := panels[panel]
		if !ok || q.Expr == "" {
			t.Fatalf("the dashboard has no %s", panel)
		}
		expr := inRange.ReplaceAllStringFunc(q.Expr, func(increase string) string {
			selector := inRange.FindStringSubmatch(increase)[1]
			return "(" + at(selector, after) + " - " + at(selector, before) + ")"
		})
		return p.query(filled(expr, site), time.Time{})
	}
	for _, tc := range []struct {
		panel, site string
		want        float64
	}{
		{"Judged requests A", ".*", traffic.sum(all)},
		{"Judged requests A", "b.test", traffic.sum(on("b.test", all))},
		{"Outside robots.txt A", ".*", traffic.sum(outside)},
		{"Outside robots.txt A", "b.test", traffic.sum(on("b.test", outside))},
		{"Blocked A", ".*", traffic.sum(blocked)},
		{"Blocked A", "b.test", 0},
		{"Search engines blocked A", ".*", 1}, // bingbot on a.test; the rule names Baiduspider
		{"Search engines blocked A", "b.test", 0},
		{"Compliance A", ".*", 1 - traffic.sum(outside)/traffic.sum(judged)},
		{"Compliance A", "a.test", 1 - traffic.sum(on("a.test", outside))/traffic.sum(on("a.test", judged))},
		{"Compliance A", "c.test", 1},
	} {
		samples := ask(tc.panel, tc.site)
		if len(samples) != 1 || math.Abs(samples[0].value-tc.want) > 1e-9 {
			t.Errorf("%s of %s is %v, want %v", tc.panel, tc.site, samples, tc.want)
		}
	}
	for _, s := range ask("Handlers A", ".*") {
		if want := map[string]float64{"enforce": 2, "monitor": 1}[s.labels["mode"]]; s.value != want {
			t.Errorf("%v handlers in mode %s, want %v", s.value, s.labels["mode"], want)
		}
	}
	for column, condition := range map[string]func(requestSeries) bool{"Crawlers A": all, "Crawlers B": outside} {
		for _, s := range ask(column, ".*") {
			want := traffic.sum(func(r requestSeries) bool {
				return r.crawler == s.labels["crawler"] && r.class == s.labels["class"] && condition(r)
			})
			if s.value != want {
				t.Errorf("%s of %v is %v, want %v", column, s.labels, s.value, want)
			}
		}
	}
	for _, s := range ask("Crawlers C", ".*") {
		of := func(f func(requestSeries) bool) float64 {
			return traffic.sum(func(r requestSeries) bool {
				return r.crawler == s.labels["crawler"] && r.class == s.labels["class"] && f(r)
			})
		}
		if want := 1 - of(outside)/of(judged); math.Abs(s.value-want) > 1e-9 {
			t.Errorf("compliance of %v is %v, want %v", s.labels, s.value, want)
		}
	}
	var readers []string
	for _, s := range ask("Crawlers D", ".*") {
		readers = append(readers, s.labels["crawler"])
	}
	if slices.Sort(readers); !slices.Equal(readers, []string{"GPTBot", "Googlebot"}) {
		t.Errorf("%q have fetched robots.txt, want GPTBot and Googlebot", readers)
	}
}

// filled replaces the variables of a query as Grafana does.
func filled(expr, site string) string {
	return strings.NewReplacer("$site", site, "$class", ".*", "$crawler", ".*",
		"$__rate_interval", "15s", "$__range_s", "600", "$__range", "60s").Replace(expr)
}

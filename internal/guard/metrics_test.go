package guard

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/internal/metrics"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// shown returns the values of a metric by one of its labels. If several series share a
// label value, the last counts.
func shown(t *testing.T, m *metrics.Metrics, name, label string) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	if err := m.Register(registry); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := make(map[string]float64)
	for _, family := range families {
		if !strings.HasSuffix(family.GetName(), "_robots_guard_"+name) {
			continue
		}
		for _, metric := range family.GetMetric() {
			value := metric.GetGauge().GetValue() + metric.GetCounter().GetValue()
			if label == "" {
				values[""] = value
			}
			for _, pair := range metric.GetLabel() {
				if pair.GetName() == label {
					values[pair.GetValue()] = value
				}
			}
		}
	}
	return values
}

func TestLookupsAreCounted(t *testing.T) {
	release := make(chan struct{})
	g := testGuard(t, options{}, &scriptedSource{answer: func(context.Context) policy.FetchResult {
		<-release
		return policy.FetchResult{Status: http.StatusOK}
	}})
	before := shown(t, g.state.Metrics, "lookups_total", "result")
	g.Judge(requestBy("curl/8.7.1", "/")) // does not wait
	close(release)
	<-fetchDone(g, requestBy("curl/8.7.1", "/"))
	g.Judge(requestBy("curl/8.7.1", "/"))
	after := shown(t, g.state.Metrics, "lookups_total", "result")
	if hits, misses := after["hit"]-before["hit"], after["miss"]-before["miss"]; hits != 1 || misses != 1 {
		t.Errorf("%v hits and %v misses, want one each", hits, misses)
	}
}

func TestReadingsOfCrawlersAreShown(t *testing.T) {
	g := testGuard(t, options{}, serving(mixedRobots))
	read := func(userAgent, method string, status int) map[string]float64 {
		r := requestBy(userAgent, "/robots.txt")
		r.Method = method
		err := g.Serve(httptest.NewRecorder(), r, caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
			w.WriteHeader(status)
			return nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		return shown(t, g.state.Metrics, "crawler_read_timestamp_seconds", "crawler")
	}
	start := float64(time.Now().UnixMilli()) / 1000
	for _, tc := range []struct {
		name, userAgent, method string
		status                  int
		want                    string // crawler in the label
	}{
		{"a browser", uaChrome, http.MethodGet, 200, ""},
		{"an invented crawler", "InventedBot/1.0 (+http://invented.example)", http.MethodGet, 200, ""},
		{"HEAD tells nobody the rules", "bingbot/2.0", http.MethodHead, 200, ""},
		{"nor does an error", "bingbot/2.0", http.MethodGet, 503, ""},
		{"a crawler", "bingbot/2.0", http.MethodGet, 200, "bingbot"},
		{"its copy holds", "GPTBot/1.3", http.MethodGet, 304, "GPTBot"},
		{"there is none", "Googlebot/2.1", http.MethodGet, 404, "Googlebot"},
	} {
		before := shown(t, g.state.Metrics, "crawler_read_timestamp_seconds", "crawler")
		after := read(tc.userAgent, tc.method, tc.status)
		if tc.want == "" && len(after) != len(before) || tc.want != "" && after[tc.want] < start {
			t.Errorf("%s: %v", tc.name, after)
		}
	}
}

// TestSeriesUnderAttack sends requests with every name in the registry, and with random
// hosts, names and paths, to 20 sites.
func TestSeriesUnderAttack(t *testing.T) {
	g := testGuard(t, options{Enforce: true, Grace: -1}, serving("User-agent: *\nDisallow: /private/\n\nUser-agent: OwnBot\nDisallow: /\n"))
	names := make(caddyhttp.MatchHost, 20)
	for i := range names {
		names[i] = fmt.Sprintf("h%d.example", i)
	}
	server := &caddyhttp.Server{Routes: caddyhttp.RouteList{{MatcherSets: caddyhttp.MatcherSets{{&names}}}}}
	next := caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
		w.WriteHeader(http.StatusOK)
		return nil
	})
	send := func(host, userAgent, path string) {
		w := httptest.NewRecorder()
		r := caddyhttp.PrepareRequest(requestBy(userAgent, "http://"+host+path), caddy.NewReplacer(), w, server)
		_ = g.Serve(w, r, next) // an error is a block
	}
	for i, host := range names {
		for n, crawler := range uaident.Default().Crawlers() {
			if os.Getenv("LONG_TESTS") == "" && n%10 != i%10 {
				continue
			}
			send(host, crawler.Token+"/1.0", "/robots.txt")
			send(host, crawler.Token+"/1.0", fmt.Sprintf("/page%d", n))
			send(host, crawler.Token+"/1.0", fmt.Sprintf("/private/%d?x=%d", n, i))
		}
	}
	for i := range 5000 {
		send(fmt.Sprintf("invented%d.example", i), "bingbot/2.0", "/private/")
		send(names[i%20], fmt.Sprintf("Invented%dBot/%d.0 (+http://invented.example/)", i, i), fmt.Sprintf("/private/%d", i))
	}
	registry := prometheus.NewPedanticRegistry()
	if err := g.state.Metrics.Register(registry); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, family := range families {
		total += len(family.GetMetric())
	}
	const most = 5000 // the documented limit for 20 hosts
	if total > most || total < 1000 {
		t.Errorf("%d series, want many and at most %d", total, most)
	}
	t.Logf("%d series", total)
	for label, values := range map[string]map[string]float64{
		"host": shown(t, g.state.Metrics, "requests_total", "host"), "crawler": shown(t, g.state.Metrics, "crawler_read_timestamp_seconds", "crawler"),
	} {
		for value := range values {
			if strings.Contains(strings.ToLower(value), "invented") {
				t.Errorf("%s is a value of %s", value, label)
			}
		}
	}
	if overflow := shown(t, g.state.Metrics, "label_overflow_total", "host")[names[0]]; overflow < 100 {
		t.Errorf("%v requests summed up, want hundreds", overflow)
	}
}

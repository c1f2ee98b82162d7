package caddymodule

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

func TestRootDisallowed(t *testing.T) {
	m := newMetrics()
	for _, tc := range []struct {
		name, text string
		status     int
		want       float64
	}{
		{"no robots.txt", "", http.StatusNotFound, 0},
		{"empty", "", http.StatusOK, 0},
		{"everything closed", "User-agent: *\nDisallow: /\n", http.StatusOK, 1},
		{"a part closed", "User-agent: *\nDisallow: /private/\n", http.StatusOK, 0},
		{"closed for one", "User-agent: GPTBot\nDisallow: /\n", http.StatusOK, 0},
		{"closed but for one", "User-agent: Googlebot\nAllow: /\n\nUser-agent: *\nDisallow: /\n", http.StatusOK, 1},
		{"the home page open", "User-agent: *\nDisallow: /\nAllow: /$\n", http.StatusOK, 0},
	} {
		s := policy.Standing{}.After(policy.Answer{Status: tc.status, Body: []byte(tc.text)}, time.Now(), policy.Freshness{Max: time.Hour}, 0)
		m.settled("a.example", s)
		if got := gathered(t, m.root, "host")["a.example"]; got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestHandlersAreCountedWhileConfigured(t *testing.T) {
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	defer cancel()
	m := newMetrics()
	m.configured(ctx, modeEnforce)
	m.configured(ctx, modeEnforce)
	if got := gathered(t, m.handlers, "mode"); got[modeEnforce] != 2 || got[modeMonitor] != 0 || len(got) != 2 {
		t.Errorf("got %v", got)
	}
	cancel()
	for deadline := time.Now().Add(20 * time.Second); gathered(t, m.handlers, "mode")[modeEnforce] != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("still counted after the end of the configuration")
		}
	}
}

func TestReadingsOfCrawlersAreShown(t *testing.T) {
	g := testGuard(t, Handler{}, serving(mixedRobots))
	g.metrics = newMetrics()
	h := &Handler{guard: g}
	read := func(userAgent, method string, status int) map[string]float64 {
		r := request(userAgent, "/robots.txt")
		r.Method = method
		err := h.ServeHTTP(httptest.NewRecorder(), r, caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
			w.WriteHeader(status)
			return nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		return gathered(t, g.metrics.crawlers, "crawler")
	}
	start := timestamp(time.Now())
	for _, tc := range []struct {
		name, userAgent, method string
		status                  int
		want                    string // the crawler that is shown
	}{
		{"a browser", uaChrome, http.MethodGet, 200, ""},
		{"an invented crawler", "InventedBot/1.0 (+http://invented.example)", http.MethodGet, 200, ""},
		{"HEAD tells nobody the rules", "bingbot/2.0", http.MethodHead, 200, ""},
		{"nor does an error", "bingbot/2.0", http.MethodGet, 503, ""},
		{"a crawler", "bingbot/2.0", http.MethodGet, 200, "bingbot"},
		{"its copy holds", "GPTBot/1.3", http.MethodGet, 304, "GPTBot"},
		{"there is none", "Googlebot/2.1", http.MethodGet, 404, "Googlebot"},
	} {
		before := gathered(t, g.metrics.crawlers, "crawler")
		after := read(tc.userAgent, tc.method, tc.status)
		if tc.want == "" && len(after) != len(before) || tc.want != "" && after[tc.want] < start {
			t.Errorf("%s: %v", tc.name, after)
		}
	}
}

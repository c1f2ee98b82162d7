package guard

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestTooFast checks the response to a crawler that exceeds a limit, for each kind of
// limit.
func TestTooFast(t *testing.T) {
	delay := policy.Delay{Interval: 10 * time.Second, Line: 2}
	limit := &rate.Limit{Client: "GPTBot", Requests: 30, Per: time.Minute, Rule: rate.Rule{Interval: 2 * time.Second}}
	few := &rate.Limit{Client: "GPTBot", Concurrent: 4}
	odd := &rate.Limit{Client: "GPTBot", Requests: 4, Per: 1500 * time.Millisecond, Rule: rate.Rule{Interval: 375 * time.Millisecond}}
	for _, tc := range []struct {
		name           string
		rate           Rate
		policies, text string
		broken         string
		wait           int
	}{
		{"the file", Rate{Delay: delay, EnforcedInterval: delay.Interval, Pace: rate.Pace{Wait: 7200 * time.Millisecond}},
			`"crawl-delay";q=1;w=10`, "file:  https://example.com/robots.txt\nline:  Crawl-delay: 10 (line 2)\nagain: in 8 seconds\n", "crawl-delay", 8},
		{"a delay that is too long", Rate{Delay: policy.Delay{Interval: 90 * time.Second, Line: 2}, EnforcedInterval: 30 * time.Second, Pace: rate.Pace{Wait: 30 * time.Second}},
			`"crawl-delay";q=1;w=30`, "line:  Crawl-delay: 90 (line 2)\napplied: 30 seconds, the longest Crawl-delay that this site enforces\n", "crawl-delay", 30},
		{"a limit", Rate{Limit: limit, Pace: rate.Pace{IsOverLimit: true, Wait: time.Hour}},
			`"limit";q=30;w=60`, "limit: 30 requests in 1 minute\nagain: in 3600 seconds\n", "limit", 3600},
		{"a limit beside the file", Rate{Delay: delay, EnforcedInterval: delay.Interval, Limit: limit, Pace: rate.Pace{IsOverLimit: true, Wait: 1}},
			`"crawl-delay";q=1;w=10, "limit";q=30;w=60`, "limit: 30 requests in 1 minute\nagain: in 1 second\n", "limit", 1},
		{"a limit in no whole seconds", Rate{Limit: odd, Pace: rate.Pace{IsOverLimit: true, Wait: time.Second}},
			`"limit";q=8;w=3`, "limit: 4 requests in 1.5 seconds\n", "limit", 1},
		{"too many at once", Rate{Limit: few, Pace: rate.Pace{IsOverLimit: true, IsOverConcurrent: true, Wait: 10 * time.Second}},
			`"concurrent";q=4;qu="concurrent-requests"`, "limit: 4 requests at a time (GPTBot concurrent 4)\nagain: in 10 seconds\n", "concurrent", 10},
	} {
		j := &Judgement{
			Request: judge.Request{Client: uaident.Identify("GPTBot/1.2"), Method: http.MethodGet, Target: "/a"},
			Site:    new(site.NewSite(policy.Key{IsHTTPS: true, Host: "example.com"})), Result: judge.Result{Action: judge.Slowed}, Rate: tc.rate,
		}
		longest := 0
		for i := range 500 {
			method := []string{http.MethodGet, http.MethodHead}[i%2]
			w := httptest.NewRecorder()
			if err := Refuse(w, httptest.NewRequest(method, "/a", nil), j, http.StatusForbidden); err != nil {
				t.Fatal(err)
			}
			body, h := w.Body.String(), w.Header()
			if w.Code != http.StatusTooManyRequests || method == http.MethodGet != strings.Contains(body, tc.text) || method == http.MethodHead && body != "" {
				t.Fatalf("%s, %s: %d %q, want %q", tc.name, method, w.Code, body, tc.text)
			}
			if h.Get("Cache-Control") != "no-store" || h.Get("RateLimit-Policy") != tc.policies {
				t.Fatalf("%s: %v, want %s", tc.name, h, tc.policies)
			}
			wait, err := strconv.Atoi(h.Get("Retry-After"))
			if err != nil || wait < tc.wait || wait > tc.wait+tc.wait/10 {
				t.Fatalf("%s: Retry-After %q, want %d and up to a tenth more", tc.name, h.Get("Retry-After"), tc.wait)
			}
			longest = max(longest, wait)
			checkFields(t, h, tc.broken, tc.wait)
		}
		if tc.wait >= 30 && longest == tc.wait {
			t.Errorf("%s: Retry-After does not differ", tc.name)
		}
	}
}

// checkFields parses the fields as structured fields (RFC 9651) according to
// draft-ietf-httpapi-ratelimit-headers.
func checkFields(t *testing.T, h http.Header, broken string, wait int) {
	t.Helper()
	policies, err := httpsfv.UnmarshalList(h.Values("RateLimit-Policy"))
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[any]bool)
	for _, member := range policies {
		item := member.(httpsfv.Item)
		names[item.Value] = true
		for _, name := range []string{"q", "w"} {
			if n, _ := item.Params.Get(name); (n == nil || n.(int64) <= 0) && !(name == "w" && item.Value == concurrentPolicy) {
				t.Errorf("%v: %s is %v", item.Value, name, n)
			}
		}
	}
	limits, err := httpsfv.UnmarshalList(h.Values("RateLimit"))
	if err != nil || len(limits) != 1 {
		t.Fatal(limits, err)
	}
	item := limits[0].(httpsfv.Item)
	rest, _ := item.Params.Get("r")
	reset, _ := item.Params.Get("t")
	if item.Value != broken || !names[broken] || rest != int64(0) || reset != int64(wait) {
		t.Errorf("RateLimit: %s, want %s and %d", h.Get("RateLimit"), broken, wait)
	}
}

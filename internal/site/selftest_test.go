package site

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// answers are responses of sites, by a description.
var answers = map[string]policy.FetchResult{
	"rules":     {Status: 200, Body: []byte("User-agent: *\nDisallow: /a\nDisallow: /b\n")},
	"empty":     {Status: 200},
	"moved":     {Status: 200, Body: []byte("User-agent: *\nDisallow: /a\n"), RedirectTargets: []string{"https://www.a.test/robots.txt"}},
	"missing":   {Status: 404, Header: http.Header{"Content-Type": {"text/html"}}},
	"gone":      {Status: 410},
	"app":       {Status: 200, Body: []byte("<!doctype html><title>Shop</title>")},
	"challenge": {Status: 403, Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}},
	"refused":   {Status: 403},
	"limited":   {Status: 429},
	"login":     {Status: 200, Body: []byte("<!doctype html><form>"), RedirectTargets: []string{"https://login.test/?to=/robots.txt"}},
	"loop":      {Status: 301, Header: http.Header{"Location": {"/robots.txt"}}},
	"fails":     {Status: 502},
	"aborted":   {Err: ErrResponseAborted},
	"reset":     {Err: errors.New("connection reset")},
}

// testSite returns a site with these responses for a browser and a crawler.
func testSite(browser, crawler string) SelfTestSite {
	return SelfTestSite{Name: "https://a.test", Label: "a.test", Fetch: func(_ context.Context, userAgent string) policy.FetchResult {
		if userAgent == SelfTestCrawler {
			return answers[crawler]
		}
		return answers[browser]
	}}
}

// runTest tests sites and returns the log lines and the recorded responses.
func runTest(t *testing.T, sites iter.Seq[SelfTestSite]) (lines []string, noted []string) {
	t.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	test := SelfTest{Sites: sites, Logger: zap.New(core), OnCrawlerResponse: func(f responseaudit.RobotsFetcher, r responseaudit.RobotsResponse) {
		noted = append(noted, fmt.Sprintf("%s %s %s %d", f.Site, f.Token, f.Class, r.Status))
	}}
	test.run(t.Context())
	for _, e := range logs.All() {
		m := e.ContextMap()
		line := fmt.Sprintf("%s %s: %v", e.Level, m["client"], strings.TrimPrefix(e.Message, "self-test: "))
		for _, name := range []string{"status", "rules", "location", "error"} {
			if value, ok := m[name]; ok {
				line += fmt.Sprintf(" %s=%v", name, value)
			}
		}
		if (e.Level == zapcore.WarnLevel) && m["advice"] == nil {
			t.Errorf("a warning without advice: %s", line)
		}
		lines = append(lines, line)
	}
	return lines, noted
}

// TestOutcomes logs the results for a browser and a crawler, in one line if they are equal. It
// records the crawler's response if the browser gets the file.
func TestOutcomes(t *testing.T) {
	for _, tc := range []struct {
		browser, crawler string
		lines            string
		noted            string
	}{
		{"rules", "rules", "info browser and crawler: robots.txt was fetched status=200 rules=2", "a.test GPTBot ai_training 200"},
		{"empty", "empty", "info browser and crawler: robots.txt was fetched status=200 rules=0", "a.test GPTBot ai_training 200"},
		{"moved", "moved", "info browser and crawler: robots.txt was fetched status=200 rules=1", "a.test GPTBot ai_training 200"},
		{"rules", "moved", "info browser: robots.txt was fetched status=200 rules=2\ninfo crawler: robots.txt was fetched status=200 rules=1", "a.test GPTBot ai_training 200"},
		{"missing", "missing", "warn browser and crawler: robots.txt is missing status=404", ""},
		{"gone", "gone", "warn browser and crawler: robots.txt is missing status=410", ""},
		{"app", "app", "warn browser and crawler: a web page is sent instead of robots.txt status=200", ""},
		{"challenge", "rules", "warn browser: a web page is sent instead of robots.txt status=403\ninfo crawler: robots.txt was fetched status=200 rules=2", ""},
		{"rules", "challenge", "info browser: robots.txt was fetched status=200 rules=2\nwarn crawler: a web page is sent instead of robots.txt status=403", "a.test GPTBot ai_training 403"},
		{"refused", "refused", "warn browser and crawler: robots.txt is refused status=403", ""},
		{"limited", "limited", "warn browser and crawler: robots.txt is refused status=429", ""},
		{"login", "login", "warn browser and crawler: robots.txt redirects to another page status=302 location=https://login.test/?to=/robots.txt", ""},
		{"rules", "login", "info browser: robots.txt was fetched status=200 rules=2\nwarn crawler: robots.txt redirects to another page status=302 location=https://login.test/?to=/robots.txt", "a.test GPTBot ai_training 302"},
		{"loop", "loop", "warn browser and crawler: the redirects of robots.txt lead to no file status=301 location=/robots.txt", ""},
		{"fails", "fails", "warn browser and crawler: robots.txt cannot be fetched status=502", ""},
		{"reset", "reset", "warn browser and crawler: robots.txt cannot be fetched error=connection reset", ""},
		{"rules", "reset", "info browser: robots.txt was fetched status=200 rules=2\nwarn crawler: robots.txt cannot be fetched error=connection reset", ""},
		{"rules", "aborted", "info browser: robots.txt was fetched status=200 rules=2\nwarn crawler: the connection is closed without a response to the request for robots.txt", "a.test GPTBot ai_training 0"},
	} {
		t.Run(tc.browser+" and "+tc.crawler, func(t *testing.T) {
			lines, noted := runTest(t, slices.Values([]SelfTestSite{testSite(tc.browser, tc.crawler)}))
			if got := strings.Join(lines, "\n"); got != tc.lines {
				t.Errorf("got\n%s\nwant\n%s", got, tc.lines)
			}
			if got := strings.Join(noted, "\n"); got != tc.noted {
				t.Errorf("noted %q, want %q", got, tc.noted)
			}
		})
	}
}

// TestUnknownHost logs a warning about an invented host only if the response is wrong for every
// host.
func TestUnknownHost(t *testing.T) {
	warned := []string{"aborted", "challenge", "fails", "limited", "refused", "reset"}
	for word := range answers {
		site := testSite(word, word)
		site.IsInventedHost = true
		lines, _ := runTest(t, slices.Values([]SelfTestSite{site}))
		if got, want := strings.HasPrefix(lines[0], "warn"), slices.Contains(warned, word); got != want {
			t.Errorf("%s: warned %t, want %t: %s", word, got, want, lines[0])
		}
	}
}

// TestMaxHosts checks that the test neither fetches nor collects more hosts than the bound.
func TestMaxHosts(t *testing.T) {
	collected := 0
	lines, _ := runTest(t, func(yield func(SelfTestSite) bool) {
		for range 1000 {
			if collected++; !yield(testSite("rules", "rules")) {
				return
			}
		}
	})
	if len(lines) != maxSelfTestHosts+1 || collected != maxSelfTestHosts+1 || !strings.Contains(lines[maxSelfTestHosts], "more hosts") {
		t.Errorf("%d lines, %d sites were collected; the last line is %s", len(lines), collected, lines[len(lines)-1])
	}
}

// TestTimes checks that fetches run one at a time, time out, and end at once when the test stops.
func TestTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, fetched := 0, 0
		hangs := SelfTestSite{Name: "https://slow.test", Fetch: func(ctx context.Context, _ string) policy.FetchResult {
			if running++; running > 1 {
				t.Error("two fetches at once")
			}
			<-ctx.Done()
			running--
			fetched++
			return policy.FetchResult{Err: context.Cause(ctx)}
		}}
		core, logs := observer.New(zapcore.DebugLevel)
		test := SelfTest{Sites: slices.Values([]SelfTestSite{hangs, hangs, hangs}), Logger: zap.New(core), OnCrawlerResponse: func(responseaudit.RobotsFetcher, responseaudit.RobotsResponse) {
			t.Error("an answer is noted")
		}}
		began := time.Now()
		stop := test.Start(t.Context())
		time.Sleep(selfTestDelay + 4*selfTestTimeout - time.Second)
		synctest.Wait()
		if n := logs.Len(); fetched != 3 || n != 1 {
			t.Errorf("%d fetches and %d lines before the fourth fetch ends", fetched, n)
		}
		if line := logs.All()[0]; line.ContextMap()["error"] != errSelfTestTimeout.Error() {
			t.Errorf("got %v", line.ContextMap())
		}
		stop()
		if took := time.Since(began); took != selfTestDelay+4*selfTestTimeout-time.Second {
			t.Errorf("stop takes time: ended after %s", took)
		}
		if n := logs.Len(); n != 1 {
			t.Errorf("%d lines: a fetch that was stopped is logged", n)
		}
	})
}

// TestReplacedAtOnce checks that a test sends no request if the configuration ends at once.
func TestReplacedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := SelfTestSite{Fetch: func(context.Context, string) policy.FetchResult {
			t.Error("a request is sent")
			return policy.FetchResult{}
		}}
		test := SelfTest{Sites: slices.Values([]SelfTestSite{site}), Logger: zap.NewNop()}
		stop := test.Start(t.Context())
		time.Sleep(selfTestDelay - time.Millisecond)
		stop()
		time.Sleep(time.Minute)
	})
}

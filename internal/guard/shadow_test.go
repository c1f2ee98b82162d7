package guard

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

const (
	textInForce = "User-agent: *\nDisallow: /private/\n"
	triedText   = "User-agent: *\nDisallow: /private/a/\nDisallow: /shop/\n\nUser-agent: Fetcher9\nDisallow: /\n"
)

// tryingGuard returns a guard with a cached robots.txt and a shadow robots.txt.
func tryingGuard(t testing.TB, o options, tried *scriptedSource) *Guard {
	t.Helper()
	if tried != nil {
		o.Shadow = tried
	}
	g := testGuard(t, o, serving(textInForce))
	<-fetchDone(g, requestBy("bingbot/2.0", "/"))
	if tried != nil {
		g.readTried()
	}
	return g
}

// readTried fetches the shadow robots.txt if it is due.
func (g *Guard) readTried() {
	g.state.trials.fetchConfiguredFiles()
	if done := g.configuredTrial.entry.Refresh(policy.FreshnessPolicy{}, func() policy.FetchResult { return policy.FetchResult{} }, nil); done != nil {
		<-done
	}
}

// onlyTrial returns the only reported trial.
func onlyTrial(t *testing.T, g *Guard) report.Trial {
	t.Helper()
	found := g.state.Reports(time.Now()).Shadow(report.Filter{})
	if len(found.Trials) != 1 {
		t.Fatalf("%d trials, want one", len(found.Trials))
	}
	return found.Trials[0]
}

func TestATextIsTried(t *testing.T) {
	g := tryingGuard(t, options{Enforce: true}, serving(triedText))
	for range 3 {
		g.Judge(requestBy("bingbot/2.0", "/shop/1?x=1"))
	}
	g.Judge(requestBy("GPTBot/1.3", "/private/b"))
	g.Judge(requestBy("GPTBot/1.3", "/private/a/b"))
	g.Judge(requestBy("GPTBot/1.3", "/robots.txt"))
	g.Judge(requestBy("Fetcher9/1.0", "/about")) // named only by the shadow robots.txt
	g.Judge(requestBy(uaChrome, "/shop/1"))

	trial := onlyTrial(t, g)
	if trial.VerdictDifferences != (report.VerdictDifferences{Requests: 6, NewlyForbidden: 4, NewlyAllowed: 1}) || trial.Search != (report.VerdictDifferences{Requests: 3, NewlyForbidden: 3}) {
		t.Errorf("in all %+v, of search engines %+v", trial.VerdictDifferences, trial.Search)
	}
	if trial.Source != "next.txt" || trial.TrialVersion == "" || trial.TrialVersion == trial.InForce {
		t.Errorf("the trial is %+v", trial)
	}
	var tokens []string
	pages := make(map[string]report.ChangedPage)
	for _, c := range trial.Crawlers {
		tokens = append(tokens, c.Token)
		for _, p := range c.Pages {
			pages[c.Token] = p
		}
	}
	if want := []string{"bingbot", "Fetcher9", "GPTBot"}; !reflect.DeepEqual(tokens, want) {
		t.Errorf("the crawlers are %q, want %q", tokens, want)
	}
	for token, want := range map[string]report.ChangedPage{
		"bingbot":  {Difference: "newly_forbidden", Path: "/shop/1?x=1", Estimate: report.Estimate{Count: 3}, RuleOnTrial: report.TrialRule{Rule: "Disallow: /shop/", Line: 3, Group: "*"}, RuleInForce: report.TrialRule{Group: "*"}},
		"GPTBot":   {Difference: "newly_allowed", Path: "/private/b", Estimate: report.Estimate{Count: 1}, RuleOnTrial: report.TrialRule{Group: "*"}, RuleInForce: report.TrialRule{Rule: "Disallow: /private/", Line: 2, Group: "*"}},
		"Fetcher9": {Difference: "newly_forbidden", Path: "/about", Estimate: report.Estimate{Count: 1}, RuleOnTrial: report.TrialRule{Rule: "Disallow: /", Line: 6, Group: "Fetcher9"}},
	} {
		got := pages[token]
		got.First, got.Last, got.Host = time.Time{}, time.Time{}, ""
		if got != want {
			t.Errorf("%s: got %+v\nwant %+v", token, got, want)
		}
	}
}

// TestTrialCountsOnce evaluates a request twice, because the file was edited. The trial
// counts it once.
func TestTrialCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := tryingGuard(t, options{Enforce: true, FetchWait: 10 * time.Second}, serving(triedText))
		g.Source = serving("User-agent: *\nDisallow: /other/\n")
		time.Sleep(2 * time.Minute) // from then on the file is refetched before a block
		if j := g.Judge(requestBy("bingbot/2.0", "/private/b")); j.Verdict != judge.Allowed {
			t.Fatalf("%s, want that the edited file counts", j.Verdict)
		}
		if n := onlyTrial(t, g).VerdictDifferences.Requests; n != 1 {
			t.Errorf("the trial counts %d requests, want 1", n)
		}
	})
}

// TestATrialChangesNothing compares the results of requests with and without a trial,
// for several shadow robots.txt files.
func TestATrialChangesNothing(t *testing.T) {
	type outcome struct {
		verdict, action string
		status          int
		header          http.Header
		placeholders    map[string]string
	}
	serve := func(g *Guard, userAgent, target string) outcome {
		w := httptest.NewRecorder()
		repl := caddy.NewReplacer()
		r := caddyhttp.PrepareRequest(requestBy(userAgent, target), repl, w, browserServer)
		err := g.Serve(w, r, caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
			w.WriteHeader(http.StatusNoContent)
			return nil
		}))
		o := outcome{status: w.Code, header: w.Header(), placeholders: make(map[string]string)}
		if err != nil {
			o.status = err.(caddyhttp.HandlerError).StatusCode
		}
		if j, ok := caddyhttp.GetVar(r.Context(), Var).(*Judgement); ok {
			o.verdict, o.action = j.Verdict.String(), j.Action.String()
		}
		for name := range placeholders {
			o.placeholders[name], _ = repl.GetString(placeholderPrefix + name)
		}
		return o
	}
	for name, tried := range map[string]*scriptedSource{
		"another text": serving(triedText),
		"all closed":   serving("User-agent: *\nDisallow: /\n"),
		"an error":     {answer: func(context.Context) policy.FetchResult { return policy.FetchResult{Err: errors.New("no")} }},
		"a page":       serving("<!doctype html><title>Sign in</title>"),
		"hostile":      serving("User-agent: *\nDisallow: /*a*a*a*a*a*a*a*a*a*a*a*a$\n\x00\xff"),
	} {
		t.Run(name, func(t *testing.T) {
			with, without := tryingGuard(t, options{Enforce: true}, tried), tryingGuard(t, options{Enforce: true}, nil)
			for _, userAgent := range []string{"bingbot/2.0", "GPTBot/1.3", "curl/8.0", "Fetcher9/1.0", uaChrome, ""} {
				for _, target := range []string{"/", "/shop/1", "/private/b", "/private/a/aaaaaaaaaaaaaaa", "/robots.txt"} {
					got, want := serve(with, userAgent, target), serve(without, userAgent, target)
					if !reflect.DeepEqual(got, want) {
						t.Errorf("%s %s: got %+v\nwant %+v", userAgent, target, got, want)
					}
				}
			}
		})
	}
}

// TestWhatCannotBeReadIsNotTried checks that an unavailable shadow robots.txt is
// reported once.
func TestWhatCannotBeReadIsNotTried(t *testing.T) {
	answers := map[string]policy.FetchResult{
		"text":    {Status: http.StatusOK, Body: []byte(triedText)},
		"missing": {Status: http.StatusNotFound},
		"error":   {Err: errors.New("connection refused")},
		"page":    {Status: http.StatusOK, Body: []byte("<!doctype html><title>Sign in</title>")},
	}
	const warned, told = "shadow robots.txt cannot be fetched; no request is compared", "shadow robots.txt fetched"
	for _, tc := range []struct {
		answers []string
		tried   bool
		lines   []string
	}{
		{[]string{"text", "text"}, true, []string{told}},
		{[]string{"missing", "missing", "error"}, false, []string{warned}},
		{[]string{"error", "error"}, false, []string{warned}},
		{[]string{"page"}, false, []string{warned}},
		{[]string{"missing", "text"}, true, []string{warned, told}},
		{[]string{"text", "error"}, true, []string{told}}, // the last good file
		{[]string{"text", "missing", "missing", "text"}, true, []string{told, warned, told}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var answer policy.FetchResult
			core, logs := observer.New(zapcore.InfoLevel)
			g := testGuard(t, options{Shadow: &scriptedSource{answer: func(context.Context) policy.FetchResult { return answer }}}, serving(textInForce))
			<-fetchDone(g, requestBy("bingbot/2.0", "/"))
			g.Logger = zap.New(core)
			for _, name := range tc.answers {
				answer = answers[name]
				time.Sleep(10 * time.Minute)
				g.state.trials.fetchConfiguredFiles()
				synctest.Wait()
			}
			var lines []string
			for _, line := range logs.TakeAll() {
				lines = append(lines, line.Message)
			}
			g.Judge(requestBy("bingbot/2.0", "/shop/"))
			synctest.Wait()
			found := g.state.Reports(time.Now()).Shadow(report.Filter{})
			if tried := len(found.Trials) == 1; tried != tc.tried {
				t.Errorf("%v: tried is %t, want %t", tc.answers, tried, tc.tried)
			}
			if text := found.TrialFiles[0]; text.Source != "next.txt" || (text.Version != "") != tc.tried || text.Version == "" && text.Error == "" {
				t.Errorf("%v: the text is %+v", tc.answers, text)
			}
			if !reflect.DeepEqual(lines, tc.lines) {
				t.Errorf("%v: the lines are %q, want %q", tc.answers, lines, tc.lines)
			}
		})
	}
}

func TestTriedRequestsAreCounted(t *testing.T) {
	g := tryingGuard(t, options{}, serving(triedText))
	for _, target := range []string{"/", "/about", "/shop/", "/private/b", "/private/c", "/private/d"} {
		g.Judge(requestBy("bingbot/2.0", target))
	}
	got := shown(t, g.state.Metrics, "shadow_requests_total", "difference")
	if want := map[string]float64{"same": 2, "newly_forbidden": 1, "newly_allowed": 3}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

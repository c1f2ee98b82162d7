package caddymodule

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/explain"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/replay"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// FuzzOneEngine compares the verdicts of the server, explain, check, audit and a managed robots.txt
// on the same request.
func FuzzOneEngine(f *testing.F) {
	rules, err := managed.NewSchedule(uaident.Default(), managed.Spec{Rules: []managed.Rule{{ID: "one", For: []string{"PetalBot"}}}})
	if err != nil {
		f.Fatal(err)
	}
	text := "User-agent: *\nDisallow: /a\nAllow: /a/b$\n\nUser-agent: GPTBot\nCrawl-delay: 1\nUser-agent: acmescraper\nDisallow: /*/x\n"
	for i, userAgent := range parityAgents {
		f.Add(text, userAgent, "/a/"+strings.Repeat("b/x", i%3), i%4 == 3)
	}
	f.Add("", "acmescraper/1.0", "/.well-known/%2e%2e/a?b=/%2F", false)
	f.Fuzz(func(t *testing.T, text, userAgent, target string, post bool) {
		u, err := url.ParseRequestURI(target)
		if err != nil || len(text) > 4096 || !canBeSent(userAgent) || !canBeSent(target) {
			return
		}
		method := http.MethodGet
		if post {
			method = http.MethodPost
		}
		h := Handler{Mode: modeEnforce}
		online := provisionedGuard(t, servingFile(t, h, text), nil)
		online.Judge(get("bingbot/2.0", "/")) // fetches the file
		r := get(userAgent, "/")
		r.Method, r.RequestURI, r.URL = method, target, u
		j := online.Judge(r)

		h.setDefaults()
		offline := siteOfHandler(t, &h)
		asked := explain.Request{UserAgent: userAgent, URL: target, Method: method}
		robots := policy.Parse([]byte(text))
		e := offline.Explain(explain.RobotsFile{Robots: robots}, asked)
		switch {
		case j == nil:
			if e.Verdict != judge.Exempt.String() || e.Handler.Action != judge.NoAction.String() {
				t.Errorf("not judged by the server, %s by explain", e.Verdict)
			}
		case j.Verdict.String() != e.Verdict || j.Action.String() != e.Handler.Action || j.RobotsVerdict.Rule.Line != e.Line || j.RobotsVerdict.Ambiguous != e.Ambiguous:
			t.Errorf("%s, %s by line %d on the server; %s, %s by line %d by explain", j.Verdict, j.Action, j.RobotsVerdict.Rule.Line, e.Verdict, e.Handler.Action, e.Line)
		}
		forbidden := j != nil && j.Verdict == judge.Disallowed
		if got := (&explain.Case{UserAgent: userAgent, URL: target}).Judge(robots, uaident.Default().NewOverlay(robots.GroupNames())); method == http.MethodGet && got.Actual == explain.FormatAccess(forbidden) {
			t.Errorf("forbidden by the server: %t, by test: %s", forbidden, got.Actual)
		}
		if u.Path != "/robots.txt" {
			if got, ok := auditedAs(t, offline.Settings, text, asked); ok && got != forbidden {
				t.Errorf("forbidden by the server: %t, by audit: %t", forbidden, got)
			}
		}
		if composed, err := rules.Compose(time.Time{}, "example.com", []byte(text)); err == nil && (j == nil || j.Client.Name() != "PetalBot") {
			if by := offline.Explain(explain.RobotsFile{Robots: policy.Parse(composed)}, asked); by.Verdict != e.Verdict && !e.Ambiguous {
				t.Errorf("%s, but %s with an additional rule for another crawler:\n%s", e.Verdict, by.Verdict, composed)
			}
		}
	})
}

// canBeSent reports whether a request and JSON can represent a text.
func canBeSent(text string) bool {
	quoted, err := json.Marshal(text)
	return err == nil && len(text) < 500 && !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f }) &&
		!bytes.Contains(quoted, []byte(`\ufffd`))
}

// auditedAs reports whether audit finds a request disallowed. ok is false if audit does not judge
// it.
func auditedAs(t *testing.T, settings judge.Settings, text string, asked explain.Request) (forbidden, ok bool) {
	line, err := json.Marshal(map[string]any{"request_method": asked.Method, "request_uri": asked.URL, "http_user_agent": asked.UserAgent})
	if err != nil {
		t.Fatal(err)
	}
	report, err := replay.Run(t.Context(), replay.Options{
		Logs: []string{"-"}, Stdin: bytes.NewReader(append(line, '\n')), Versions: []replay.Version{{Body: []byte(text)}}, Workers: 1,
		Settings: settings,
	})
	if err != nil {
		t.Fatal(err)
	}
	return report.Disallowed > 0, report.Requests > 0
}

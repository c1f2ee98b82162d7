package guard

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestProtectionIsToldOnce checks that the guard warns once when a site in enforce has
// nothing to enforce, and reports once when that ends, despite reloads in between.
func TestProtectionIsToldOnce(t *testing.T) {
	core, logs := observer.New(zapcore.InfoLevel)
	status, text := http.StatusNotFound, ""
	source := &scriptedSource{answer: func(context.Context) policy.FetchResult {
		return policy.FetchResult{Status: status, Body: []byte(text)}
	}}
	first := testGuard(t, options{Enforce: true, FetchWait: 10 * time.Second}, source)
	shared := first.state
	first.Logger = zap.New(core)
	reload := func(mode string) func() {
		return func() {
			t.Cleanup(shared.UseSettings(Settings{Sites: ConfiguredSites{Modes: map[string]string{"example.com": mode}}}))
			first.visit(t, "bingbot/2.0", "http://example.com/", "192.0.2.1")
		}
	}
	key := policy.Key{Site: "example.com", Host: "example.com"}
	become := func(newStatus int, newText string) func() {
		return func() {
			status, text = newStatus, newText
			if e := shared.Cache.Get(key); e != nil {
				e.MakeDue()
			}
			first.visit(t, "bingbot/2.0", "http://example.com/", "192.0.2.1")
			e := shared.Cache.Get(key)
			if done := e.Refresh(first.Freshness, func() policy.FetchResult { return source.answer(t.Context()) }, nil); done != nil {
				<-done
			}
		}
	}
	for _, step := range []struct {
		name string
		do   func()
		told string // level and cause
		now  string // cause in metrics and reports
	}{
		{"missing", become(404, ""), "warn missing", "missing"},
		{"still missing", become(404, ""), "", "missing"},
		{"a reload", reload("enforce"), "", "missing"},
		{"another cause", become(403, ""), "warn refused", "refused"},
		{"it cannot be read", become(503, ""), "", "refused"},
		{"a rule", become(200, "User-agent: *\nDisallow: /x\n"), "info ", ""},
		{"the same", become(200, "User-agent: *\nDisallow: /x\n"), "", ""},
		{"a web page", become(200, "<html>"), "warn web_page", "web_page"},
		{"monitor", reload("monitor"), "", ""},
		{"a web page in monitor", become(200, "<body>"), "", ""},
		{"enforce again", reload("enforce"), "warn web_page", "web_page"},
	} {
		t.Run(step.name, func(t *testing.T) {
			step.do()
			deadline := time.Now().Add(5 * time.Second)
			told := func() (all string) {
				for _, line := range logs.All() {
					if cause, ok := line.ContextMap()["cause"]; ok || line.Message == "protecting again: the robots.txt has rules" {
						if !ok {
							cause = ""
						}
						all += fmt.Sprint(line.Level, " ", cause)
					}
				}
				return all
			}
			for told() != step.told && time.Now().Before(deadline) { // a fetch is logged after it has ended
				time.Sleep(time.Millisecond)
			}
			if got := told(); got != step.told {
				t.Errorf("told %q, want %q", got, step.told)
			}
			logs.TakeAll()
			shown := ""
			if n := shared.Reports(time.Now()).SiteStates["example.com"]; n.Enforces != shared.Enforces(key) {
				t.Errorf("in reports it enforces: %t", n.Enforces)
			}
			if cause, ok := shared.NotProtecting()["example.com"]; ok {
				shown = cause
			}
			if shown != step.now {
				t.Errorf("not protecting for %q, want %q", shown, step.now)
			}
		})
	}
}

// TestProtectionBySource checks that the guard reports once for a file that many sites
// share.
func TestProtectionBySource(t *testing.T) {
	core, logs := observer.New(zapcore.InfoLevel)
	g := testGuard(t, options{Enforce: true, SourceKey: "/srv/robots.txt", FetchWait: 10 * time.Second}, serving("# nothing\n"))
	g.Logger = zap.New(core)
	for _, host := range []string{"example.com", "one.example.net", "other.example"} {
		g.visit(t, "bingbot/2.0", "http://"+host+"/", "192.0.2.1")
	}
	want := map[string]string{"example.com": "empty", "*.example.net": "empty", "_other": "empty"}
	if got := g.state.NotProtecting(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("not protecting: %v, want %v", got, want)
	}
	if !g.state.Enforces(policy.Key{Source: "/srv/robots.txt"}) || g.state.Enforces(policy.Key{Source: "/srv/other.txt"}) {
		t.Error("the wrong files are enforced")
	}
	for _, line := range logs.FilterLevelExact(zapcore.WarnLevel).All() {
		if line.ContextMap()["site"] != "/srv/robots.txt" {
			t.Errorf("told of %v", line.ContextMap())
		}
	}
}

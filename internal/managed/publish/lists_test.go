package publish

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/remote/remotetest"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// placeList returns a list with this content, read once.
func placeList(t *testing.T, data string, file bool) (*RuleList, *remotetest.Source) {
	t.Helper()
	source := remotetest.NewSource("https://cms.test/rules", data, nil)
	if file {
		source = remotetest.NewFileSource("https://cms.test/rules", data)
	}
	l := newRuleListFromSource(source, time.Now)
	l.Load(t.Context(), 1, nil)
	return l, source
}

func listsOf(lists ...*RuleList) (*ScheduleBuilder, *observer.ObservedLogs) {
	core, log := observer.New(zapcore.InfoLevel)
	return &ScheduleBuilder{
		Registry: uaident.Default(), Sources: lists, Logger: zap.New(core),
		Spec: managed.Spec{Rules: []managed.Rule{{For: []string{"GPTBot"}, Paths: []string{"/own"}}}},
	}, log
}

// composed returns the file that a schedule makes from an empty base at a host.
func composed(t *testing.T, s *managed.Schedule, host string) string {
	t.Helper()
	text, err := s.Compose(time.Now(), host, nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const oppositeList = `{"rules": [{"id": "x", "for": ["GPTBot"], "allow": ["/own"]}]}`

// TestFirst checks errors in a configuration, in a list file and in a list at a URL.
func TestFirst(t *testing.T) {
	for _, tc := range []struct {
		name   string
		data   string
		file   bool
		strict bool
		want   string // an error, or a line of the file
	}{
		{"a URL", list("a"), false, false, "Disallow: /a"},
		{"a file", list("a"), true, false, "Disallow: /a"},
		{"a wrong URL at a start", "null", false, false, "Disallow: /own"},
		{"a wrong URL at a reload", "null", false, true, "error https://cms.test/rules:1:1: a list is an object"},
		{"a wrong file", "null", true, false, "error https://cms.test/rules:1:1: a list is an object"},
		{"a URL against the configuration at a start", oppositeList, false, false, "Disallow: /own"},
		{"a URL against the configuration at a reload", oppositeList, false, true, "error https://cms.test/rules:1: rule x: GPTBot is both allowed and disallowed /own; disallow GPTBot says the opposite"},
		{"a file against the configuration", oppositeList, true, false, "error https://cms.test/rules:1: rule x: GPTBot is both"},
		{"a token that nobody knows", `{"rules": [{"id": "x", "for": ["GTPBot"], "allow": true}]}`, true, false, `error https://cms.test/rules:1: rule x: "GTPBot" is not a class and not a known crawler; did you mean GPTBot`},
		{"a path that is none", `{"rules": [{"id": "x", "for": ["GPTBot"], "allow": ["own"]}]}`, true, false, `error https://cms.test/rules:1: rule x: path "own" begins with neither`},
	} {
		l, _ := placeList(t, tc.data, tc.file)
		s, _ := listsOf(l)
		schedule, err := s.FirstSchedule(tc.strict)
		got := ""
		if err != nil {
			got = "error " + err.Error()
		} else {
			got = composed(t, schedule, "a.test")
		}
		if !strings.Contains(got, tc.want) || (err != nil) != strings.HasPrefix(tc.want, "error") {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
	down := newRuleListFromSource(remotetest.NewSource("https://cms.test/rules", "", errDown), time.Now)
	down.Load(t.Context(), 1, nil)
	s, _ := listsOf(down)
	if schedule, err := s.FirstSchedule(true); err != nil || !strings.Contains(composed(t, schedule, ""), "/own") {
		t.Errorf("a URL that cannot be read at a reload: %v", err)
	}
}

// TestFirstLeavesOutOneList skips only the lists at URLs that conflict at a start.
func TestFirstLeavesOutOneList(t *testing.T) {
	file, _ := placeList(t, list("a"), true)
	bad, _ := placeList(t, oppositeList, false)
	b, _ := placeList(t, list("b"), false)
	twice, _ := placeList(t, list("a", "c"), false)
	s, log := listsOf(file, bad, b, twice)
	schedule, err := s.FirstSchedule(false)
	if err != nil {
		t.Fatal(err)
	}
	text := composed(t, schedule, "a.test")
	for path, want := range map[string]bool{"/own": true, "/a": true, "/b": true, "/c": false} {
		if strings.Contains(text, "Disallow: "+path+"\n") != want {
			t.Errorf("%s: %t in %s", path, !want, text)
		}
	}
	if conflicts := log.FilterMessageSnippet("conflicts with the configuration").Len(); !s.LacksRules() || conflicts != 2 {
		t.Errorf("lacks a list: %t; %d conflicts are logged", s.LacksRules(), conflicts)
	}
}

// TestHostsOfOtherSites skips rules for hosts of other sites. Rules for several hosts apply to the
// hosts of the site.
func TestHostsOfOtherSites(t *testing.T) {
	l, _ := placeList(t, `{"rules": [
		{"id": "a", "for": ["GPTBot"], "disallow": ["/a"], "hosts": ["other.test", "a.test"]},
		{"id": "b", "for": ["GPTBot"], "allow": ["/own"], "hosts": ["other.test"]},
		{"id": "c", "for": ["GPTBot"], "disallow": ["/c"]}]}`, false)
	s, log := listsOf(l)
	s.HasHost = func(host string) bool { return host == "a.test" || host == "b.test" }
	schedule, err := s.FirstSchedule(true)
	if err != nil {
		t.Fatal(err)
	}
	if text := composed(t, schedule, "a.test"); !strings.Contains(text, "Disallow: /own\nDisallow: /a\nDisallow: /c\n") {
		t.Errorf("a.test: %s", text)
	}
	if text := composed(t, schedule, "b.test"); strings.Contains(text, "/a\n") || !strings.Contains(text, "/c\n") {
		t.Errorf("b.test: %s", text)
	}
	if told := log.FilterMessageSnippet("for hosts of other sites").All(); len(told) != 1 || told[0].ContextMap()["rules"] != int64(1) {
		t.Errorf("told %v", told)
	}
}

// TestRun publishes a new version. An incompatible or refused version is not published, logged once
// and counted each time.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, source := placeList(t, list("a"), false)
		s, log := listsOf(l)
		s.Check = func(schedule *managed.Schedule) error {
			if strings.Contains(composed(t, schedule, ""), "/gate") {
				return errors.New("gate: no")
			}
			return nil
		}
		if _, err := s.FirstSchedule(true); err != nil {
			t.Fatal(err)
		}
		var published []string
		failed := 0
		s.OnFailure = func() { failed++ }
		s.Start()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{}, 2)
		go func() { l.Run(ctx); ended <- struct{}{} }()
		go func() {
			s.Run(ctx, func(next *managed.Schedule) { published = append(published, composed(t, next, "")) })
			ended <- struct{}{}
		}()
		for _, data := range []string{
			list("a", "b"), `{"rules": [{"id": "a", "for": ["GPTBot"], "allow": ["/own"]}]}`, list("a", "gate"), list("a", "b"), list("a", "c"),
		} {
			source.SetContent(data, nil)
			advance(remotetest.Lifetime + time.Second)
		}
		cancel()
		<-ended
		<-ended
		if len(published) != 3 || !strings.Contains(published[0], "/b\n") || published[1] != published[0] || !strings.Contains(published[2], "/c\n") {
			t.Errorf("published %q", published)
		}
		if told := log.FilterLevelExact(zapcore.ErrorLevel).Len(); failed != 2 || told != 1 || log.FilterMessageSnippet("no longer conflict").Len() != 1 {
			t.Errorf("%d failures, told of %d", failed, told)
		}
	})
}

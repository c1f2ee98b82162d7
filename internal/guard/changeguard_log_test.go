package guard

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/robotsguard/caddy-robots-guard/internal/copies"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

func TestChangeGuardIsLoud(t *testing.T) {
	s := newGuardedSite(t, loose)
	for i := range 5 {
		s.visit(uaGooglebot, fmt.Sprintf("/%d%s", i, strings.Repeat("x", 300)), http.StatusOK)
	}
	s.visit(uaBingbot, "/b", http.StatusOK)
	s.become(strict + "\nUser-agent: Googlebot\nDisallow: /\n")
	for range 3 {
		s.visit(uaGooglebot, "/a", http.StatusOK)
	}
	lines := s.logs.TakeAll()
	if len(lines) != 1 || lines[0].Level != zapcore.WarnLevel {
		t.Fatalf("%d lines, want one warning: %v", len(lines), lines)
	}
	fields := lines[0].ContextMap()
	if got := fmt.Sprint(fields["crawlers"]); got != "[Googlebot bingbot]" || fields["pages"] != int64(6) || fields["site"] != "http://example.com" {
		t.Errorf("crawlers %s, pages %v, site %v", got, fields["pages"], fields["site"])
	}
	examples := fmt.Sprint(fields["examples"])
	for _, want := range []string{"/0xxx", "… (Disallow: /, line 5)", "/b (Disallow: /, line 2)"} {
		if !strings.Contains(examples, want) {
			t.Errorf("no %q in %s", want, examples)
		}
	}
	if n := len(fields["examples"].([]any)); n != maxLoggedExamples || len(examples) > 3*400 {
		t.Errorf("%d examples of %d bytes", n, len(examples))
	}
	if until, _ := fields["until"].(time.Time); !until.Equal(s.now.Add(heldFor)) {
		t.Errorf("until %s", until)
	}
	if hosts := s.g.state.changeGuard.HostsWithHold(); len(hosts) != 1 || !hosts[judge.OtherName] {
		t.Errorf("held for %v, want the label of other hosts", hosts)
	}

	s.now = s.now.Add(heldFor)
	if hosts := s.g.state.changeGuard.HostsWithHold(); len(hosts) != 0 {
		t.Errorf("still held for %v", hosts)
	}
	s.g.updateHolds(&site.Site{Key: s.entry.Key(), CacheSegment: policy.UnknownHosts, Label: "example.com"}, copies.RequestHost{}, s.entry.State())
	lines = s.logs.TakeAll()
	if len(lines) != 1 || lines[0].Level != zapcore.InfoLevel || !strings.Contains(lines[0].Message, "no longer in force") {
		t.Errorf("lines at the end: %v", lines)
	}
}

// TestChangeGuardNeedsNoForbiddenRequest checks that fetches of robots.txt alone report
// the change and its end.
func TestChangeGuardNeedsNoForbiddenRequest(t *testing.T) {
	s := newGuardedSite(t, loose)
	s.visit(uaGooglebot, "/a", http.StatusOK)
	own := &site.Site{Key: s.entry.Key(), CacheSegment: policy.UnknownHosts, Label: "example.com"}
	for _, change := range []struct{ text, says string }{
		{strict, "the previous version stays in force"},
		{loose, "no longer in force"},
	} {
		before := *s.entry.State()
		s.become(change.text)
		s.g.newFetchObserver(own, copies.RequestHost{})(before, *s.entry.State())
		if !slices.ContainsFunc(s.logs.TakeAll(), func(e observer.LoggedEntry) bool { return strings.Contains(e.Message, change.says) }) {
			t.Errorf("no line %q", change.says)
		}
	}
}

// TestChangeGuardSaysNothingOfWhatWasForbiddenBefore changes a robots.txt after the
// hold without disallowing more.
func TestChangeGuardSaysNothingOfWhatWasForbiddenBefore(t *testing.T) {
	s := newGuardedSite(t, loose)
	s.visit(uaGooglebot, "/a", http.StatusOK)
	s.become(strict)
	s.visit(uaGooglebot, "/a", http.StatusOK)
	s.now = s.now.Add(heldFor)
	s.visit(uaGooglebot, "/a", http.StatusOK)
	s.logs.TakeAll()
	s.become(strict + "# again\n")
	if got := s.visit(uaGooglebot, "/a", http.StatusOK); got != blocked {
		t.Errorf("%s, want %s", got, blocked)
	}
	for _, line := range s.logs.TakeAll() {
		if strings.Contains(line.Message, "change guard") {
			t.Errorf("logged: %s", line.Message)
		}
	}
}

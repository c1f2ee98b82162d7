package guard

import (
	"net/http"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestNamedByTheTextServed judges a crawler that only the text it was served names by its
// group there, and one that only our copy names by that of all others there.
func TestNamedByTheTextServed(t *testing.T) {
	const (
		closed      = "User-agent: *\nDisallow: /\n"
		open        = "User-agent: *\nDisallow:\n"
		closedToAll = closed + "\nUser-agent: Quux\nAllow: /\n"
		closedToIt  = open + "\nUser-agent: Quux\nDisallow: /\n"
	)
	for _, tc := range []struct {
		name, agent, ours, text string
		verdict                 judge.Verdict
	}{
		{"its group opens what all others are refused", "SomeBot/1.0 Quux/2.0", closed, closedToAll, judge.Stale},
		{"its group opens what our copy allows, too", "SomeBot/1.0 Quux/2.0", open, closedToAll, judge.Allowed},
		{"its group closes what all others may ask for", "SomeBot/1.0 Quux/2.0", open, closedToIt, judge.Disallowed},
		{"and our copy forbids that, too", "SomeBot/1.0 Quux/2.0", closed, closedToIt, judge.Disallowed},
		{"only our copy has a group for it", "SomeBot/1.0 Quux/2.0", closedToIt, open + "\n", judge.Stale},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newTwoTexts(t, map[string]string{tc.agent: tc.text})
			s.g.FetchWait = time.Minute // which a busy machine may need
			s.text = tc.ours
			s.g.Grace = 0
			s.reread()
			s.hold()
			asks := func(target string) *http.Request { return from(requestBy(tc.agent, target), "192.0.2.1") }
			s.reads(asks("/robots.txt"), tc.text)
			for range 3 { // the User-Agent is familiar from the second on
				if j := s.g.Judge(asks("/x")); j.Verdict != tc.verdict {
					t.Errorf("%s by %q, want %s", j.Verdict, j.Evidence.Rule, tc.verdict)
				}
			}
		})
	}
}

// TestNamedByTheTextBefore lets a crawler that was not seen to read anything follow the text
// before by its group there, which our copy has not any more.
func TestNamedByTheTextBefore(t *testing.T) {
	s := newTwoTexts(t, nil)
	s.text = "User-agent: *\nDisallow: /\n\nUser-agent: Quux\nAllow: /\n"
	s.reread()
	s.hold()
	s.text = "User-agent: *\nDisallow: /\n"
	s.reread()
	s.hold()
	if j := s.g.Judge(from(requestBy("SomeBot/1.0 Quux/2.0", "/private/x"), "192.0.2.1")); j.Verdict != judge.Stale {
		t.Errorf("%s by %q", j.Verdict, j.Evidence.Rule)
	}
}

// TestDelayOfWhoIsNamedByTheTextServed asks a crawler that only the text it was served names
// for what its group there asks, and not for what that asks of all others.
func TestDelayOfWhoIsNamedByTheTextServed(t *testing.T) {
	const text = "User-agent: *\nCrawl-delay: 100\nDisallow:\n\nUser-agent: Quux\nCrawl-delay: 2\nDisallow:\n"
	s := newTwoTexts(t, nil)
	r := requestBy("SomeBot/1.0 Quux/2.0", "/x")
	version := policy.VersionOf(policy.Answer{Status: http.StatusOK, Body: []byte(text)}, time.Now())
	version.Derived = deriveNames(version.Robots)
	if got := s.g.delayBy(r, s.g.Judge(r), version).Every; got != 2*time.Second {
		t.Errorf("%v", got)
	}
}

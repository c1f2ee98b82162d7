package report

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// TestSearchBlocked tells of search engines that a rule shuts out which is not meant
// for them, and of no others.
func TestSearchBlocked(t *testing.T) {
	l := ledger.New(func() time.Time { return now })
	at := now.Add(-2 * time.Hour)
	block := func(n int, token, group string, identity verify.State, action judge.Action) {
		for range n {
			at = at.Add(2 * time.Minute)
			l.Record(&ledger.Request{
				At: at, Site: "a.example", Token: token, Class: uaident.Search, Identity: identity,
				Method: "GET", Target: fmt.Sprint("/by/", group), Verdict: judge.Disallowed, Action: action,
				Rule: ledger.Rule{Text: "Disallow: /", Line: 2, Group: group},
			})
			l.Snapshot() // what waits in buffers is counted in any order
		}
	}
	block(3, "Googlebot", "*", verify.Verified, judge.Blocked)
	block(2, "Googlebot", "*", verify.Spoofed, judge.Blocked)
	block(5, "Baiduspider", "Baiduspider", verify.Verified, judge.Blocked) // meant
	block(4, "bingbot", "bingbot", verify.Claimed, judge.Blocked)          // meant
	block(2, "bingbot", "*", verify.Claimed, judge.Blocked)                // another path, after an edit
	block(2, "Applebot", "Googlebot", verify.Claimed, judge.Blocked)       // it is not the one who is named
	block(6, "YandexBot", "*", verify.Claimed, judge.Logged)
	s := &Source{Ledger: l.Snapshot(), Now: now}
	var got []string
	for _, b := range s.Summary(Filter{Window: Day}).SearchBlocked {
		got = append(got, fmt.Sprint(b.Token, " ", b.Identity, " ", b.Blocked, " ", b.Path))
	}
	slices.Sort(got)
	if want := []string{"Applebot claimed 2 /by/Googlebot", "Googlebot verified 3 /by/*", "bingbot claimed 2 /by/*"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	// It ends with its cause.
	for name, live := range map[string]SiteState{
		"monitor now":      {Mode: "monitor"},
		"another text now": {Mode: "enforce", State: &policy.State{Current: &policy.Version{Robots: policy.Parse(nil), FirstFetched: now.Add(-time.Minute)}}},
	} {
		s.SiteStates = map[string]SiteState{"a.example": live}
		if list := s.Summary(Filter{Window: Day}).SearchBlocked; len(list) > 0 {
			t.Errorf("%s: %+v", name, list)
		}
	}
	s.SiteStates = map[string]SiteState{"a.example": {Mode: "enforce"}}
	block(1, "Googlebot", "*", verify.Verified, judge.Logged) // by only_log
	s.Ledger = l.Snapshot()
	for _, b := range s.Summary(Filter{Window: Day}).SearchBlocked {
		if b.Token == "Googlebot" {
			t.Errorf("spared now: %+v", b)
		}
	}
}

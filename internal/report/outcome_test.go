package report

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// outcomes is a wildcard site at which disallowed requests were blocked and passed.
func outcomes() *Source {
	l := ledger.New(func() time.Time { return now })
	at := now.Add(-2 * time.Hour)
	send := func(n int, token, host, target string, action judge.Action, wouldBlock bool) {
		for range n {
			at = at.Add(time.Second)
			l.Record(&ledger.Request{
				At: at, Site: "*.example.com", Host: host, Token: token, Class: uaident.AITraining, Method: "GET", Target: target,
				Verdict: judge.Disallowed, Action: action, WouldBlock: wouldBlock, Rule: ledger.Rule{Line: 2, Text: "Disallow: /", Group: "*"},
			})
			l.Snapshot() // what waits in buffers is counted in any order
		}
	}
	send(164, "GPTBot", "a.example.com", "/x", judge.Logged, true)
	send(8, "GPTBot", "b.example.com", "/x", judge.Logged, false) // only_log
	send(500, "GPTBot", "a.example.com", "/x", judge.Blocked, false)
	send(81, "CCBot", "b.example.com", "/y", judge.Blocked, false)
	return &Source{Ledger: l.Snapshot(), Now: now, SiteStates: map[string]SiteState{"*.example.com": {Mode: "enforce"}}}
}

// TestOutcomesAddUp splits the disallowed requests into those that were blocked, that
// would be, and that only_log lets pass.
func TestOutcomesAddUp(t *testing.T) {
	s := outcomes()
	sum := s.Summary(Filter{})
	would := sum.Disallowed - sum.ViolationsBlocked - sum.ViolationsOnlyLogged
	if got := fmt.Sprint(sum.Disallowed, sum.ViolationsBlocked, would, sum.ViolationsOnlyLogged, sum.WouldBlock); got != "753 581 164 8 164" {
		t.Errorf("violations, blocked, would be blocked, only logged: %s", got)
	}
	if c := s.Crawlers(Filter{}, 0, 10).Crawlers; !c[0].ViolatingSince.Equal(now.Add(-2*time.Hour+time.Second)) || !c[1].ViolatingSince.After(c[0].ViolatingSince) {
		t.Errorf("GPTBot violates since %s, CCBot since %s", c[0].ViolatingSince, c[1].ViolatingSince)
	}
}

// TestViolationsByHost shows one row for each page, and for one host only its pages.
func TestViolationsByHost(t *testing.T) {
	s := outcomes()
	for _, tc := range []struct {
		host string
		want []string // crawler, page, requests, blocked
	}{
		{"", []string{"CCBot b.example.com/y 81 81", "GPTBot a.example.com/x 664 500", "GPTBot b.example.com/x 8 0"}},
		{"a.example.com", []string{"GPTBot a.example.com/x 664 500"}},
		{"b.example.com", []string{"CCBot b.example.com/y 81 81", "GPTBot b.example.com/x 8 0"}},
		{"c.example.com", nil},
	} {
		var got []string
		list := s.Violations(Filter{Host: tc.host}, 0, 10)
		for _, v := range list.Violations {
			got = append(got, fmt.Sprint(v.Token, " ", v.Host, v.Path, " ", v.Count, " ", v.BlockedAtMost))
		}
		slices.Sort(got)
		if !slices.Equal(got, tc.want) || list.Total != len(got) {
			t.Errorf("host %q: %q of %d, want %q", tc.host, got, list.Total, tc.want)
		}
	}
	detail, _ := s.Crawler(Filter{Host: "b.example.com"}, "GPTBot")
	if len(detail.Paths) != 1 || slices.ContainsFunc(detail.RecentSamples, func(r Sample) bool { return r.Host != "b.example.com" }) {
		t.Errorf("pages and requests of GPTBot at b.example.com: %+v, %+v", detail.Paths, detail.RecentSamples)
	}
	var hosts []string
	for _, h := range s.Summary(Filter{}).SitesNow[0].Hosts {
		hosts = append(hosts, fmt.Sprint(h.Host, " ", h.Count, " ", h.Disallowed, " ", h.Blocked))
	}
	if want := []string{"a.example.com 664 664 500", "b.example.com 89 89 81"}; !slices.Equal(hosts, want) {
		t.Errorf("hosts %q, want %q", hosts, want)
	}
}

// TestEmptyFileHasNoVersion shows no hash of a file that is empty or missing.
func TestEmptyFileHasNoVersion(t *testing.T) {
	freshness := policy.FreshnessPolicy{Default: 10 * time.Minute, Max: policy.MaxAge}
	full := policy.State{}.AfterFetch(policy.FetchResult{Status: http.StatusOK, Body: []byte(oldText)}, now.Add(-9*time.Hour), freshness, 0)
	gone := full.AfterFetch(policy.FetchResult{Status: http.StatusNotFound}, now.Add(-time.Hour), freshness, 0)
	l := ledger.New(func() time.Time { return now })
	q := &ledger.Request{At: now.Add(-2 * time.Hour), Site: "example.com", Token: "GPTBot", Class: uaident.AITraining, Method: "GET", Target: "/"}
	l.Record(q)
	l.RecordRobotsFetch(q, ledger.RobotsFetch{At: now.Add(-time.Minute).UnixMilli(), Status: http.StatusNotFound, Version: gone.Current.Hash})
	l.Snapshot()
	l.RecordRobotsChange("example.com", full.Current, gone.Current, now.Add(-time.Hour))
	s := &Source{Ledger: l.Snapshot(), Now: now, SiteStates: map[string]SiteState{"example.com": {Source: "server", Authority: "https://example.com", State: &gone}}}
	sum := s.Summary(Filter{})
	robots, _ := s.Robots(Filter{Site: "example.com"})
	read := s.Crawlers(Filter{}, 0, 1).Crawlers[0].RobotsFetch
	for what, got := range map[string]string{
		"health": sum.SitesNow[0].Robots.Version, "mark": sum.Changes[0].To, "robots.txt": robots.Versions[0].Version, "fetch": read.Version,
	} {
		if got != "" {
			t.Errorf("%s: the version of a missing file is %s", what, got)
		}
	}
	if robots.Versions[1].Version == "" || sum.Changes[0].From == "" || !read.Current {
		t.Errorf("the file before: %+v, %+v; current: %v", robots.Versions[1].Version, sum.Changes[0], read.Current)
	}
}

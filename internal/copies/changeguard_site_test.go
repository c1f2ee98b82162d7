package copies

import (
	"context"
	"crypto/sha256"
	"net/http"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

const holdFor = 6 * time.Hour

// changingSite is a site whose robots.txt changes, and an hour passes with each change.
type changingSite struct {
	c     ChangeGuard
	key   policy.Key
	now   time.Time
	state policy.State
}

// newChangingSite returns a site with a robots.txt and a registered user of the change guard.
func newChangingSite(t *testing.T, text string) *changingSite {
	s := &changingSite{key: policy.Key{Site: "a.test", Host: "a.test"}, now: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)}
	s.c.Clock = func() time.Time { return s.now }
	s.c.AddUser(t.Context())
	s.become(text)
	return s
}

// become changes the robots.txt.
func (s *changingSite) become(text string) {
	s.now = s.now.Add(time.Hour)
	s.state = s.state.AfterFetch(policy.FetchResult{Status: http.StatusOK, Body: []byte(text)}, s.now, policy.FreshnessPolicy{}, 0)
}

// visit has a search engine be served a page.
func (s *changingSite) visit(crawler, target string) {
	s.c.RecordServedPage(s.key, s.state.Current, ledger.CrawlerVisit{Crawler: crawler, GroupNames: []string{crawler}, WildcardApplies: true, Host: s.key.Host, Target: ledger.RawText(target)})
}

// look compares, and returns how many holds there are.
func (s *changingSite) look() (held int, news ChangedHolds) {
	holds, news := s.c.UpdateHolds(s.key, &s.state, holdFor, false)
	return len(holds), news
}

// hash is the version that a text is.
func hash(text string) [sha256.Size]byte { return sha256.Sum256([]byte(text)) }

// forbid is a robots.txt that forbids paths to all.
func forbid(paths ...string) string {
	text := "User-agent: *\n"
	for _, p := range paths {
		text += "Disallow: " + p + "\n"
	}
	return text
}

// TestGuarded has guards come and go.
func TestGuarded(t *testing.T) {
	var c ChangeGuard
	key := policy.Key{Site: "a.test", Host: "a.test"}
	is := func(guarded bool, remembered int, when string) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); c.IsUsed() != guarded || c.NumSites(policy.ConfiguredHosts) != remembered; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) { // contexts end in a goroutine
				t.Fatalf("%s: guarded %v, %d sites, want %v and %d", when, c.IsUsed(), c.NumSites(policy.ConfiguredHosts), guarded, remembered)
			}
		}
	}
	is(false, 0, "at first")
	first, endFirst := context.WithCancel(t.Context())
	second, endSecond := context.WithCancel(t.Context())
	c.AddUser(first)
	is(true, 0, "with a guard")
	c.AddUser(second)
	c.RecordServedPage(key, &policy.Version{}, ledger.CrawlerVisit{Crawler: "Googlebot", Target: "/a"})
	is(true, 1, "with a visit")
	endFirst()
	for c.numUsers.Load() > 1 {
		time.Sleep(time.Millisecond)
	}
	is(true, 1, "with one guard less")
	endSecond()
	is(false, 0, "without a guard")
}

// TestSitesAreBounded has more sites visited than there is room for.
func TestSitesAreBounded(t *testing.T) {
	for _, tc := range []struct {
		segment policy.Segment
		site    string // "" for its host
		most    int
	}{{policy.ConfiguredHosts, "", maxNamedSites}, {policy.UnknownHosts, "*.test", maxUnknownHostSites}} {
		s := newChangingSite(t, forbid())
		key := func(i int) policy.Key {
			host := string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676)) + ".test"
			if tc.site != "" {
				return policy.Key{Site: tc.site, Host: host}
			}
			return policy.Key{Site: host, Host: host}
		}
		restored := func(i int) int {
			kept := ledger.ChangeGuardState{Site: key(i), Visits: []ledger.CrawlerVisit{{Crawler: "Googlebot", Target: "/restored", At: s.now}}}
			s.c.Restore(kept, &s.state, false)
			return s.c.NumSites(tc.segment)
		}
		for i := range tc.most - 1 {
			s.key = key(i)
			s.visit("Googlebot", "/a")
		}
		if n := s.c.NumSites(tc.segment); n != tc.most-1 {
			t.Fatalf("%d sites are remembered, want %d", n, tc.most-1)
		}
		if tc.segment == policy.ConfiguredHosts {
			if n := restored(tc.most - 1); n != tc.most {
				t.Errorf("where there is room for one it is not restored: %d", n)
			}
			if restored(tc.most); s.c.FindSite(key(tc.most)) != nil || s.c.FindSite(key(0)) == nil {
				t.Error("what is restored pushes out another")
			}
			if restored(0); len(s.c.FindSite(key(0)).servedPages.Recent(s.now)) != 2 {
				t.Error("of what is known nothing is restored where all is full")
			}
		}
		for i := range tc.most + 1 {
			s.key = key(i)
			s.visit("Googlebot", "/a")
		}
		if n := s.c.NumSites(tc.segment); n != tc.most || s.c.FindSite(key(0)) != nil {
			t.Errorf("%d sites are remembered, want %d without the first", n, tc.most)
		}
	}
}

package copies

import (
	"fmt"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

// TestSnapshot keeps what is worth it.
func TestSnapshot(t *testing.T) {
	s := newChangingSite(t, forbid())
	kept := func(ok bool, visits, holds int) {
		t.Helper()
		got, is := s.c.Snapshot(s.key)
		if is != ok || len(got.Visits) != visits || len(got.Holds) != holds {
			t.Errorf("%v, %d visits, %d holds, want %v, %d, %d", is, len(got.Visits), len(got.Holds), ok, visits, holds)
		}
		if ok && (got.Site != s.key || got.ComparedVersion != s.state.Current.Hash || !got.FetchedAt.Equal(s.state.Current.FirstFetched)) {
			t.Errorf("it is about another site or version: %+v", got)
		}
	}
	kept(false, 0, 0)
	s.visit("Googlebot", "/a")
	kept(true, 1, 0)
	s.become(forbid("/a"))
	s.look()
	kept(true, 1, 1)
	s.now = s.now.Add(holdFor)
	kept(true, 1, 0)
	s.now = s.now.Add(ledger.RecentVisitAge)
	kept(false, 0, 0)

	// A hold alone, and as many holds as visits.
	s = newChangingSite(t, forbid())
	s.visit("Googlebot", "/a")
	s.now = s.now.Add(ledger.RecentVisitAge - 2*time.Hour)
	s.become(forbid("/a"))
	s.look()
	kept(true, 1, 1)
	s.now = s.now.Add(time.Hour)
	kept(true, 0, 1)
}

// TestRestore restores a hold at a site whose robots.txt is another one since now.
func TestRestore(t *testing.T) {
	open, closed := forbid(), forbid("/")
	visit := []ledger.CrawlerVisit{{Crawler: "Googlebot", GroupNames: []string{"Googlebot"}, WildcardApplies: true, Host: "a.test", Target: "/a"}}
	for _, tc := range []struct {
		name         string
		text         string        // the version that is held
		since, until time.Duration // from now on
		held         int
		complete     bool
	}{
		{"a hold", open, -time.Minute, time.Hour, 1, true},
		{"as long as it lasts", open, -time.Minute, 1, 1, true},
		{"one that is over", open, -time.Minute, 0, 0, true},
		{"one of a clock that is ahead", open, maxClockSkew, time.Hour, 1, true},
		{"one of the future", open, maxClockSkew + 1, time.Hour, 0, true},
		{"of a text that is not known", forbid("/x"), -time.Minute, time.Hour, 0, false},
		{"of the text that is in force", closed, -time.Minute, time.Hour, 0, false},
		{"since the text was there", open, -time.Hour, time.Hour, 1, true},
		{"of an earlier time", open, -time.Hour - 1, time.Hour, 0, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newChangingSite(t, open)
			s.become(closed)
			kept := ledger.ChangeGuardState{Site: s.key, ComparedVersion: s.state.Current.Hash, FetchedAt: s.state.Current.FirstFetched, Visits: visit,
				Holds: []ledger.HeldVersion{{Version: hash(tc.text), HeldSince: s.now.Add(tc.since), HeldUntil: s.now.Add(tc.until), Visits: visit}}}
			held, complete := s.c.Restore(kept, &s.state, true)
			if held != tc.held || complete != tc.complete {
				t.Errorf("%d held, all %v, want %d and %v", held, complete, tc.held, tc.complete)
			}
			if n, _ := s.look(); n != tc.held {
				t.Errorf("%d are held, want %d", n, tc.held)
			}
			if held, complete := s.c.Restore(kept, nil, true); held != 0 || complete != (tc.complete && tc.held == 0 && tc.name != "of an earlier time") {
				t.Errorf("where no text is known: %d, %v", held, complete)
			}
		})
	}
	var nobody ChangeGuard
	if held, complete := nobody.Restore(ledger.ChangeGuardState{Holds: []ledger.HeldVersion{{}}}, nil, false); held != 0 || !complete || nobody.NumSites(0) != 0 {
		t.Errorf("%d held by nobody, all %v", held, complete)
	}
}

// TestRestoreOfAWrongClock notices a change although the version before was found, as is
// stored, in ten years.
func TestRestoreOfAWrongClock(t *testing.T) {
	s := newChangingSite(t, forbid())
	visit := []ledger.CrawlerVisit{{Crawler: "Googlebot", GroupNames: []string{"Googlebot"}, WildcardApplies: true, Host: "a.test", Target: "/a", At: s.now}}
	s.c.Restore(ledger.ChangeGuardState{Site: s.key, ComparedVersion: s.state.Current.Hash, FetchedAt: s.now.AddDate(10, 0, 0), Visits: visit}, &s.state, false)
	s.become(forbid("/a"))
	if held, news := s.look(); held != 1 || news.Started == nil {
		t.Errorf("%d changes are held back, want 1", held)
	}
}

// TestRestoreAgain restores holds that are known, and more than there is room for.
func TestRestoreAgain(t *testing.T) {
	s := newChangingSite(t, forbid())
	var texts []string
	for i := range maxHolds {
		texts = append(texts, forbid(fmt.Sprintf("/%d", i)))
		s.become(texts[i])
	}
	s.become(forbid("/"))
	visit := []ledger.CrawlerVisit{{Crawler: "Googlebot", GroupNames: []string{"Googlebot"}, WildcardApplies: true, Host: "a.test", Target: "/a"}}
	restore := func(i int, until time.Duration) int {
		held, complete := s.c.Restore(ledger.ChangeGuardState{Site: s.key, ComparedVersion: s.state.Current.Hash, FetchedAt: s.state.Current.FirstFetched,
			Holds: []ledger.HeldVersion{{Version: hash(texts[i]), HeldSince: s.now, HeldUntil: s.now.Add(until), Visits: visit}}}, &s.state, true)
		if !complete {
			t.Fatalf("text %d is not known", i)
		}
		return held
	}
	revision := func() uint64 {
		n, _ := s.c.Revisions(s.key)
		return n
	}
	for _, tc := range []struct {
		text  int
		until time.Duration
		held  int // that is news
		all   time.Duration
	}{
		{0, 3 * time.Hour, 1, 3 * time.Hour},
		{0, 3 * time.Hour, 0, 3 * time.Hour},
		{0, 4 * time.Hour, 0, 3 * time.Hour}, // not prolonged
		{1, time.Hour, 1, 3 * time.Hour},
		{0, 2 * time.Hour, 1, 2 * time.Hour},
		{1, time.Minute, 1, 2 * time.Hour},
	} {
		before := revision()
		if held := restore(tc.text, tc.until); held != tc.held {
			t.Errorf("text %d for %v: %d are news, want %d", tc.text, tc.until, held, tc.held)
		}
		if (revision() > before) != (tc.held > 0) || revision() < before {
			t.Errorf("text %d for %v: revision %d after %d", tc.text, tc.until, revision(), before)
		}
		if until := s.c.LastHoldEnd(s.key); !until.Equal(s.now.Add(tc.all)) {
			t.Errorf("text %d for %v: held until %v", tc.text, tc.until, until)
		}
	}
	for i := 2; i < maxHolds; i++ {
		if held := restore(i, holdFor); held != 1 {
			t.Errorf("text %d is not held", i)
		}
	}
	if n, _ := s.look(); n != maxHolds {
		t.Errorf("%d are held, want %d", n, maxHolds)
	}
	texts = append(texts, forbid("/"))
	s.become(forbid("/", "/x"))
	before := revision()
	if held := restore(maxHolds, time.Hour); held != 0 || revision() != before {
		t.Errorf("there is room for one more than %d", maxHolds)
	}
	if held := restore(maxHolds-1, time.Minute); held != 1 {
		t.Error("where all is full one that is known does not end sooner")
	}
}

// TestRestoredHoldIsLifted restores a hold whose pages are open: it ends with the next look.
func TestRestoredHoldIsLifted(t *testing.T) {
	s := newChangingSite(t, forbid())
	s.become(forbid("/b"))
	visit := []ledger.CrawlerVisit{{Crawler: "Googlebot", GroupNames: []string{"Googlebot"}, WildcardApplies: true, Host: "a.test", Target: "/a"}}
	s.c.Restore(ledger.ChangeGuardState{Site: s.key, ComparedVersion: s.state.Current.Hash, FetchedAt: s.state.Current.FirstFetched,
		Holds: []ledger.HeldVersion{{Version: hash(forbid()), HeldSince: s.now, HeldUntil: s.now.Add(time.Hour), Visits: visit}}}, &s.state, true)
	if n := len(s.c.HostsWithHold()); n != 1 {
		t.Fatalf("%d hosts before a look", n)
	}
	if held, news := s.look(); held != 0 || len(news.Lifted) != 1 {
		t.Errorf("%d held, %d lifted, want none and one", held, len(news.Lifted))
	}
	if held, news := s.look(); held != 0 || len(news.Lifted) != 0 {
		t.Errorf("then %d held, %d lifted", held, len(news.Lifted))
	}
}

// TestRestoredWhileARequestIsUnderWay has a request that was judged by the version before
// look once a change was read from another instance with what is held back of it: what that
// version allows ends no hold.
func TestRestoredWhileARequestIsUnderWay(t *testing.T) {
	open, closed := forbid(), forbid("/")
	visit := []ledger.CrawlerVisit{{Crawler: "Googlebot", GroupNames: []string{"Googlebot"}, WildcardApplies: true, Host: "a.test", Target: "/a"}}
	s := newChangingSite(t, open)
	underWay := s.state
	s.become(closed)
	kept := ledger.ChangeGuardState{Site: s.key, ComparedVersion: s.state.Current.Hash, FetchedAt: s.state.Current.FirstFetched, Visits: visit,
		Holds: []ledger.HeldVersion{{Version: hash(open), HeldSince: s.now.Add(-time.Minute), HeldUntil: s.now.Add(time.Hour), Visits: visit}}}
	if held, _ := s.c.Restore(kept, &s.state, true); held != 1 {
		t.Fatalf("%d are held, want one", held)
	}
	s.c.UpdateHolds(s.key, &underWay, holdFor, false)
	if n, _ := s.look(); n != 1 {
		t.Errorf("%d are held, want one", n)
	}
}

package copies

import (
	"fmt"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

// TestLook has the robots.txt change and looks each time.
func TestLook(t *testing.T) {
	type step struct {
		visits []string      // pages that Googlebot is served by the text before
		become string        // "" for no change
		after  time.Duration // the change
		began  int           // what is told then
		lifted int
		ended  int
		held   int
	}
	open, closed, a, b := forbid(), forbid("/"), forbid("/a"), forbid("/b")
	for _, tc := range []struct {
		name  string
		first string
		steps []step
	}{
		{"nothing was visited", open, []step{{become: closed}}},
		{"a page", open, []step{{visits: []string{"/a"}, become: closed, began: 1, held: 1}}},
		{"no change", open, []step{{visits: []string{"/a"}}, {}}},
		{"the page stays open", open, []step{{visits: []string{"/a"}, become: b}}},
		{"another is closed", open, []step{{visits: []string{"/a", "/b"}, become: b, began: 1, held: 1}}},
		{"it was closed before", a, []step{{visits: []string{"/a"}, become: closed}}},
		{"a day later", open, []step{{visits: []string{"/a"}, after: ledger.RecentVisitAge - time.Hour - 1, become: closed, began: 1, held: 1}}},
		{"too late", open, []step{{visits: []string{"/a"}, after: ledger.RecentVisitAge - time.Hour, become: closed}}},
		{"its end", open, []step{
			{visits: []string{"/a"}, become: closed, began: 1, held: 1},
			{after: holdFor - 1, held: 1},
			{after: 1, ended: 1},
			{},
		}},
		{"it is open again", open, []step{{visits: []string{"/a"}, become: closed, began: 1, held: 1}, {become: b, lifted: 1}, {}}},
		{"of two pages one is", open, []step{{visits: []string{"/a", "/b"}, become: closed, began: 1, held: 1}, {become: b, held: 1}}},
		{"closed again", open, []step{
			{visits: []string{"/a"}, become: closed, began: 1, held: 1},
			{become: open, lifted: 1},
			{become: closed, began: 1, held: 1},
		}},
		{"two changes", open, []step{
			{visits: []string{"/a", "/b"}, become: a, began: 1, held: 1},
			{visits: []string{"/b"}, become: forbid("/a", "/b"), began: 1, held: 2},
			{become: a, lifted: 1, held: 1},
			{after: holdFor, ended: 1},
		}},
		{"two at once", open, []step{
			{visits: []string{"/a", "/b"}, become: a, began: 1, held: 1},
			{visits: []string{"/b"}, become: forbid("/a", "/b"), began: 1, held: 2},
			{become: open, lifted: 2},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newChangingSite(t, tc.first)
			revision := uint64(0)
			for i, step := range tc.steps {
				for _, target := range step.visits {
					s.visit("Googlebot", target)
				}
				s.now = s.now.Add(step.after)
				if step.become != "" {
					s.become(step.become)
				}
				held, news := s.look()
				began := 0
				if news.Started != nil {
					began = 1
				}
				if began != step.began || len(news.Lifted) != step.lifted || len(news.Expired) != step.ended || held != step.held {
					t.Errorf("%d: %d began, %d lifted, %d ended, %d held, want %d, %d, %d, %d", i, began, len(news.Lifted), len(news.Expired), held, step.began, step.lifted, step.ended, step.held)
				}
				changed := step.become != "" && s.c.FindSite(s.key) != nil || step.ended > 0
				last := revision
				if revision, _ = s.c.Revisions(s.key); (revision > last) != changed || revision < last {
					t.Errorf("%d: revision %d after %d, changed %v", i, revision, last, changed)
				}
			}
		})
	}
}

// TestHoldsAreBounded has each change forbid one page more. The first of the texts that are held
// makes room.
func TestHoldsAreBounded(t *testing.T) {
	s := newChangingSite(t, forbid())
	var paths []string
	for i := range maxHolds + 2 {
		paths = append(paths, fmt.Sprintf("/%c", 'a'+i))
		s.visit("Googlebot", paths[i])
		before := s.state.Current.Hash
		s.become(forbid(paths...))
		s.now = s.now.Add(-59 * time.Minute) // no hold ends meanwhile
		holds, news := s.c.UpdateHolds(s.key, &s.state, holdFor, false)
		if len(holds) != min(i+1, maxHolds) || news.Started == nil || holds[len(holds)-1].Version.Hash != before {
			t.Errorf("after %d changes %d are held, one began: %v", i+1, len(holds), news.Started != nil)
		}
	}
	holds, _ := s.c.UpdateHolds(s.key, &s.state, holdFor, false)
	if first := holds[0].Version.Hash; first != hash(forbid(paths[:2]...)) {
		t.Error("the oldest of them has not made room")
	}
}

// TestLookAtNothing looks at sites of which nothing is known.
func TestLookAtNothing(t *testing.T) {
	s := newChangingSite(t, forbid())
	if held, _ := s.look(); held != 0 || s.c.FindSite(s.key) != nil {
		t.Error("a look remembers a site")
	}
	if holds, visits := s.c.Revisions(s.key); holds != 0 || visits != 0 {
		t.Errorf("revisions %d and %d of nothing", holds, visits)
	}
	s.visit("Googlebot", "/a")
	before := s.state
	s.become(forbid("/"))
	s.state.Current = nil
	if held, news := s.look(); held != 0 || news.Started != nil {
		t.Error("no robots.txt is a change")
	}
	s.state = before
	s.become(forbid("/"))
	s.state.Previous = nil // whoever has it knows no version before
	if held, news := s.look(); held != 0 || news.Started != nil {
		t.Error("what was before is not known, and is held")
	}
}

// TestAnotherInstanceWasFirst restores a hold before the change that it is about is seen.
func TestAnotherInstanceWasFirst(t *testing.T) {
	s := newChangingSite(t, forbid("/c"))
	s.visit("Googlebot", "/a")
	s.become(forbid("/a"))
	if held, news := s.look(); held != 1 || news.Started == nil {
		t.Fatalf("%d held, %+v", held, news)
	}
	kept, _ := s.c.Snapshot(s.key)

	other := newChangingSite(t, forbid("/c"))
	other.visit("Googlebot", "/a")
	other.become(forbid("/a"))
	kept.Site, kept.Holds[0].HeldSince, kept.Holds[0].HeldUntil = other.key, other.now, other.now.Add(time.Minute)
	if n, complete := other.c.Restore(kept, &other.state, true); n != 1 || !complete {
		t.Fatalf("%d restored, all: %v", n, complete)
	}
	if held, news := other.look(); held != 1 || news.Started != nil {
		t.Errorf("%d held, begun anew: %v", held, news.Started != nil)
	}
	if until := other.c.LastHoldEnd(other.key); !until.Equal(other.now.Add(time.Minute)) {
		t.Errorf("held until %v, want the other's time", until)
	}
}

// TestHeld asks what is held back, and until when.
func TestHeld(t *testing.T) {
	s := newChangingSite(t, forbid())
	held := func(hosts int, until time.Duration) {
		t.Helper()
		var want time.Time
		if until != 0 {
			want = s.now.Add(until)
		}
		if n, got := len(s.c.HostsWithHold()), s.c.LastHoldEnd(s.key); n != hosts || !got.Equal(want) {
			t.Errorf("%d hosts until %v, want %d until %v", n, got, hosts, want)
		}
	}
	held(0, 0)
	s.visit("Googlebot", "/a")
	held(0, 0)
	s.become(forbid("/a"))
	s.look()
	held(1, holdFor)
	s.visit("Googlebot", "/b")
	s.become(forbid("/a", "/b"))
	s.look()
	held(1, holdFor)
	s.now = s.now.Add(holdFor - time.Hour)
	held(1, time.Hour)
	s.now = s.now.Add(time.Hour - 1)
	held(1, 1)
	s.now = s.now.Add(1)
	held(0, 0) // although nobody has looked since
	if !s.c.LastHoldEnd(s.key).IsZero() {
		t.Error("what is over is held")
	}
}

// TestVisits returns the visits of configured sites.
func TestVisits(t *testing.T) {
	s := newChangingSite(t, forbid())
	if all := s.c.RecentVisits(); len(all) != 0 {
		t.Errorf("%v before any", all)
	}
	s.visit("Googlebot", "/a")
	s.now = s.now.Add(ledger.RecentVisitAge - 1)
	s.visit("bingbot", "/b")
	s.key.Host, s.key.Site = "b.test", "b.test"
	s.visit("bingbot", "/b")
	s.key.Host, s.key.Site = "c.test", "*.test"
	s.visit("bingbot", "/b")
	if all := s.c.RecentVisits(); len(all) != 3 {
		t.Errorf("%v, want 3", all)
	}
	s.now = s.now.Add(1)
	if all := s.c.RecentVisits(); len(all) != 2 {
		t.Errorf("%v, want 2 a day later", all)
	}
}

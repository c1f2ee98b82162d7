package ledger

import (
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
)

// TestVisits counts visits also of a site that no crawler has seen, and keeps them
// through storage and other instances as long as anything.
func TestVisits(t *testing.T) {
	c := newClock()
	l := New(c.now)
	for i := range 200 {
		l.RecordAssistantVisit("example.com", i%responseaudit.NumAssistants, c.now().Add(-time.Duration(i%3)*time.Hour))
	}
	name := responseaudit.Assistants()[0].Name
	want := uint64(0)
	for i := 0; i < 200; i += responseaudit.NumAssistants {
		want++
	}
	check := func(when string, s *Site, want uint64) {
		t.Helper()
		for _, r := range []Resolution{Hours, Days} {
			if got := s.SumVisits(name, r, noon.Add(-23*time.Hour), c.now()); got != want {
				t.Errorf("%s, step %v: %d visits, want %d", when, r.StepLength(), got, want)
			}
		}
	}
	s := l.Snapshot()
	check("counted", s.Sites[0], want)
	s.Sites[0].Visits["evil.test"] = s.Sites[0].Visits[name]
	data, err := StoredSite{Since: noon, Saved: noon, Site: s.Sites[0]}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	stored, err := DecodeStoredSite(data)
	if err != nil {
		t.Fatal(err)
	}
	check("stored", stored.Site, want)
	if n := len(stored.Site.Visits); n != responseaudit.NumAssistants {
		t.Errorf("%d assistants are read, want %d", n, responseaudit.NumAssistants)
	}
	merged := Merge(s, Snapshot{Sites: []*Site{stored.Site}}).Sites[0]
	check("merged", merged, 2*want)
	check("and left as they were", s.Sites[0], want)
	l.RestoreSite(stored.Site, noon)
	check("restored", l.Snapshot().Sites[0], 2*want)
	c.advance(49 * time.Hour)
	if s := l.Snapshot().Sites[0]; len(s.Visits[name][0]) > 0 || len(s.Visits[name][1]) == 0 {
		t.Errorf("after two days: %v", *s.Visits[name])
	}
	c.advance(MaxRetention)
	if s := l.Snapshot(); len(s.Sites) > 0 {
		t.Errorf("after all of the retention: %+v", s.Sites[0].Visits)
	}
}

// TestOnDisallowed keeps the visits of people on disallowed paths through storage, beside those
// from assistants.
func TestOnDisallowed(t *testing.T) {
	c := newClock()
	l := New(c.now)
	l.RecordAssistantVisit("example.com", 0, c.now())
	for range 7 {
		l.RecordVisitToDisallowed("example.com", c.now())
	}
	data, err := StoredSite{Since: noon, Saved: noon, Site: l.Snapshot().Sites[0]}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	stored, err := DecodeStoredSite(data)
	if err != nil {
		t.Fatal(err)
	}
	for when, s := range map[string]*Site{"counted": l.Snapshot().Sites[0], "stored": stored.Site} {
		if len(s.Visits) != 2 || s.SumVisits(VisitsToDisallowed, Hours, noon.Add(-time.Hour), c.now()) != 7 {
			t.Errorf("%s: %v", when, s.Visits)
		}
	}
}

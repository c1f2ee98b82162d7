package ledger

import (
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
)

// TestMerge adds up what several instances have counted.
func TestMerge(t *testing.T) {
	c := newClock()
	first, second := New(c.now), New(c.now)
	record(first, gptbot(c.now(), "/a"))
	first.RecordRobotsFetch(gptbot(c.now(), ""), RobotsFetch{At: c.now().UnixMilli(), Status: 200})
	c.advance(time.Minute)
	second.RecordRobotsFetch(gptbot(c.now(), ""), RobotsFetch{At: c.now().UnixMilli(), Status: 304})
	for _, path := range []string{"/a", "/b"} {
		record(second, gptbot(c.now(), path))
	}
	other := gptbot(c.now(), "/a")
	other.Site = "example.org"
	record(second, other)
	a, b := first.Snapshot(), second.Snapshot()
	before := asJSON(t, []Snapshot{a, b})
	merged := Merge(a, b)
	if got := merged.total(); got.TotalRequests() != 4 || len(merged.Sites) != 2 || merged.Since != noon.UnixMilli() {
		t.Errorf("%d requests at %d sites since %s", got.TotalRequests(), len(merged.Sites), FromUnixMilli(merged.Since))
	}
	w := merged.row(t, "example.com", "GPTBot")
	if len(w.Paths.Items) != 2 || w.Paths.Items[0].Count != 2 || w.RobotsFetch.Status != 304 || w.RequestsSinceFetch != 2 {
		t.Errorf("paths %v, %d requests since %v", w.Paths.Items, w.RequestsSinceFetch, w.RobotsFetch)
	}
	if merged.Sites[0].VersionHits[0].Lines[6] != 3 {
		t.Errorf("line 6 was hit %d times, want 3", merged.Sites[0].VersionHits[0].Lines[6])
	}
	if asJSON(t, []Snapshot{a, b}) != before {
		t.Error("merging has changed a snapshot")
	}
	if got := Merge(); got.Sites != nil || got.Since != 0 {
		t.Errorf("nothing merged is %+v", got)
	}
}

// TestMergedLastAction merges a row of an instance that acted on a crawler with a row of an instance
// that let it pass.
func TestMergedLastAction(t *testing.T) {
	for _, tc := range []struct {
		name           string
		earlier, later judge.Action
		want           judge.Action
	}{
		{"no action after a block", judge.Blocked, judge.NoAction, judge.Blocked},
		{"a block after no action", judge.NoAction, judge.Blocked, judge.Blocked},
		{"only logged after a block", judge.Blocked, judge.Logged, judge.Logged},
		{"no action at all", judge.NoAction, judge.NoAction, judge.NoAction},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newClock()
			count := func(action judge.Action) Snapshot {
				l := New(c.now)
				q := gptbot(c.now(), "/")
				q.Action = action
				record(l, q)
				return l.Snapshot()
			}
			earlier := count(tc.earlier)
			c.advance(5 * time.Minute)
			later := count(tc.later)
			restored := New(c.now)
			restored.RestoreSite(later.Sites[0], noon)
			restored.RestoreSite(earlier.Sites[0], noon)
			for name, s := range map[string]Snapshot{
				"later into earlier": Merge(earlier, later), "earlier into later": Merge(later, earlier), "restored": restored.Snapshot(),
			} {
				w := s.row(t, "example.com", "GPTBot")
				if w.LastAction != tc.want || w.LastSeen != c.now().UnixMilli() {
					t.Errorf("%s: %s, seen at %s; want %s", name, w.LastAction, FromUnixMilli(w.LastSeen), tc.want)
				}
			}
		})
	}
}

// TestMergedLinesAreBounded merges a file with more lines than a ledger has, as from a damaged storage.
func TestMergedLinesAreBounded(t *testing.T) {
	hits := LineHits{Version: [32]byte{1}, Lines: make(map[uint32]uint64)}
	for line := range uint32(maxLines + 10) {
		hits.Lines[line] = 1
	}
	l := New(newClock().now)
	for range 2 { // a new file, and a known file
		l.RestoreSite(&Site{Name: "example.com", VersionHits: []LineHits{hits}}, noon)
		if n := len(l.sites["example.com"].VersionHits[0].Lines); n != maxLines {
			t.Errorf("%d lines, want %d", n, maxLines)
		}
	}
}

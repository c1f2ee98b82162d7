package ledger

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// version returns a robots.txt as it was read.
func version(text string) *policy.Version {
	s := policy.State{}.AfterFetch(policy.FetchResult{Status: 200, Body: []byte(text)}, noon, policy.FreshnessPolicy{Default: time.Minute, Max: time.Hour}, 0)
	return s.Current
}

// forbidden is a request that a line of a robots.txt forbids.
func forbidden(at time.Time, v *policy.Version, line, groupLine int, path string) *Request {
	q := gptbot(at, path)
	q.Rule = Rule{Version: v.Hash, Line: line, Text: strings.Split(v.Robots.Text(), "\n")[line-1], Group: "GPTBot"}
	q.GroupLine = groupLine
	return q
}

// rulesOf returns the rules of a row with their lines and counts.
func (w *Row) rulesOf() string {
	var all []string
	for _, item := range w.Rules.Items {
		all = append(all, fmt.Sprintf("%d %s: %d", item.Key.Line, item.Key.Text, item.Count))
	}
	return strings.Join(all, ", ")
}

// An edit that moves a rule does not split its counts, and one that changes it
// begins a new one.
func TestCountsGoOn(t *testing.T) {
	c := newClock()
	l := New(c.now)
	before := version("User-agent: GPTBot\nDisallow: /a\nDisallow: /b\n")
	after := version("# New.\nUser-agent: GPTBot\nDisallow: /c\nDisallow: /a\n")
	for range 3 {
		record(l, forbidden(c.now(), before, 2, 1, "/a"))
		record(l, forbidden(c.now(), before, 3, 1, "/b"))
	}
	c.advance(time.Hour)
	l.RecordRobotsChange("example.com", before, after, c.now())
	record(l, forbidden(c.now(), after, 4, 2, "/a"))
	record(l, forbidden(c.now(), after, 3, 2, "/c"))
	late := forbidden(c.now().Add(-time.Minute), before, 2, 1, "/a")
	record(l, late) // from another buffer
	stale := forbidden(c.now(), after, 4, 2, "/a")
	stale.Verdict = judge.Stale
	record(l, stale)

	s := l.Snapshot()
	w := s.row(t, "example.com", "GPTBot")
	if got := w.rulesOf(); got != "4 Disallow: /a: 5, 3 Disallow: /b: 3, 3 Disallow: /c: 1, 4 Disallow: /a: 1" {
		t.Errorf("the rules: %s", got)
	}
	if item := w.Paths.Items[0]; item.Key.Path != "/a" || item.Count != 5 || item.Key.Version != after.Hash || item.Key.Line != 4 {
		t.Errorf("the page is counted as %+v", item)
	}
	if f := s.Sites[0].VersionHits[0]; f.Version != after.Hash || f.Lines[4] != 5 || f.Lines[3] != 1 || f.Lines[2] != 9 || !FromUnixMilli(f.Since).Equal(noon) {
		t.Errorf("the lines are counted as %+v", f)
	}

	// What another instance has counted, which has read the new text later.
	other := New(c.now)
	record(other, forbidden(c.now(), before, 2, 1, "/a"))
	c.advance(time.Minute)
	other.RecordRobotsChange("example.com", before, after, c.now())
	w = Merge(other.Snapshot(), s).row(t, "example.com", "GPTBot")
	if got := w.rulesOf(); !strings.HasPrefix(got, "4 Disallow: /a: 6") || strings.Count(got, "/a") != 2 {
		t.Errorf("the rules of both: %s", got)
	}
	if got := s.row(t, "example.com", "GPTBot").rulesOf(); !strings.HasPrefix(got, "4 Disallow: /a: 5") {
		t.Errorf("merging has changed what was merged: %s", got)
	}
}

// An edit that is taken back has its lines count on, too.
func TestEditTakenBack(t *testing.T) {
	c := newClock()
	l := New(c.now)
	one := version("User-agent: GPTBot\nDisallow: /a\nDisallow: /b\n")
	two := version("User-agent: GPTBot\nDisallow: /a\n")
	record(l, forbidden(c.now(), one, 2, 1, "/a"))
	record(l, forbidden(c.now(), one, 3, 1, "/b"))
	c.advance(time.Hour)
	l.RecordRobotsChange("example.com", one, two, c.now())
	record(l, forbidden(c.now(), two, 2, 1, "/a"))
	l.RecordRobotsChange("example.com", two, one, c.now())
	if f := l.Snapshot().Sites[0].VersionHits[0]; f.Version != one.Hash || f.Lines[2] != 2 || f.Lines[3] != 1 {
		t.Errorf("the lines are counted as %+v", f)
	}
}

// marksOf returns the marks of the first site in short.
func (s Snapshot) marksOf() string {
	var all []string
	for _, m := range s.Sites[0].Changes {
		all = append(all, fmt.Sprintf("%s %s %.4s %.4s", FromUnixMilli(m.At).Format("15:04"), m.Kind, m.From, m.To))
	}
	return strings.Join(all, ", ")
}

// Edits and switches are marked once, whoever has seen them, also over a
// restart.
func TestMarks(t *testing.T) {
	c := newClock()
	l, sibling := New(c.now), New(c.now)
	one, two := version("User-agent: *\nDisallow: /a\n"), version("User-agent: *\nDisallow: /b\n")
	for _, l := range []*Ledger{l, sibling} {
		record(l, gptbot(c.now(), "/"))
		l.RecordModeChange("example.com", "monitor", c.now())
		l.RecordModeChange(Other, "monitor", c.now())
		l.RecordModeChange("example.com", "bold", c.now())
		c.advance(time.Minute)
		l.RecordRobotsChange("example.com", one, two, c.now())
		l.RecordRobotsChange("example.com", two, two, c.now())
		l.RecordRobotsChange("unknown.example.com", one, two, c.now())
	}
	l.RecordModeChange("example.com", "monitor", c.now())
	versions := fmt.Sprintf("robots %.4s %.4s", Version(one.Hash), Version(two.Hash))
	merged := Merge(sibling.Snapshot(), l.Snapshot())
	if got := merged.marksOf(); got != "12:01 "+versions || len(merged.Sites) != 1 {
		t.Errorf("the marks: %s of %d sites", got, len(merged.Sites))
	}
	// The next process is in enforce before it reads what was stored.
	data, err := StoredSite{Since: noon, Saved: c.now(), Site: l.Snapshot().Sites[0]}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	c.advance(time.Hour)
	stored, err := DecodeStoredSite(data)
	if err != nil {
		t.Fatal(err)
	}
	next := New(c.now)
	next.RecordModeChange("example.com", "enforce", c.now())
	record(next, gptbot(c.now(), "/"))
	c.advance(time.Minute)
	next.RestoreSite(stored.Site, stored.Since)
	want := "12:01 " + versions + ", 13:02 mode moni enfo"
	if got := next.Snapshot().marksOf(); got != want {
		t.Errorf("after a restart the marks are %s, want %s", got, want)
	}
	// They are bounded, and go with all else that is old.
	for i := range 2 * maxSiteChanges {
		c.advance(time.Second)
		next.RecordModeChange("example.com", []string{"monitor", "enforce"}[i%2], c.now())
	}
	if marks := next.Snapshot().Sites[0].Changes; len(marks) != maxSiteChanges || marks[maxSiteChanges-1].At != c.now().UnixMilli() {
		t.Errorf("%d marks are kept, the last at %d", len(marks), marks[len(marks)-1].At)
	}
	c.advance(MaxRetention - maxRequestDelay - time.Second)
	record(next, gptbot(c.now(), "/"))
	if marks := next.Snapshot().Sites[0].Changes; len(marks) != 2 {
		t.Errorf("%d marks outlive the retention, want the two that do not", len(marks))
	}
}

// Marks that a storage returns are what marks can be.
func TestDamagedMarks(t *testing.T) {
	good := SiteChange{noon.UnixMilli(), ModeChange, "monitor", "enforce"}
	site := &Site{Name: "example.com", Mode: "<b>", Changes: []SiteChange{good, {1, "coup", "a", "b"}, {2, ModeChange, "monitor", strings.Repeat("x", 999)}, {3, RobotsChange, "monitor", "enforce"}}}
	data, err := StoredSite{Since: noon, Saved: noon, Site: site}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	stored, err := DecodeStoredSite(data)
	if err != nil {
		t.Fatal(err)
	}
	if s := stored.Site; s.Mode != "" || len(s.Changes) != 1 || s.Changes[0] != good {
		t.Errorf("the mode is %q, the marks are %v", s.Mode, s.Changes)
	}
}

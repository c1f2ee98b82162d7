package ledger

import (
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestFilesOfTheFuture counts the lines of the text by which is judged now, where two others
// were counted while the clock was a year ahead.
func TestFilesOfTheFuture(t *testing.T) {
	right := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	now := right.Add(365 * 24 * time.Hour)
	l := New(func() time.Time { return now })
	judge := func(text byte) {
		l.Record(&Request{
			At: now, Site: "a.test", Token: "GPTBot", Class: uaident.AITraining, Rule: Rule{Version: Version{text}, Line: 2, Text: "Disallow: /", Group: "*"}, GroupLine: 1,
		})
	}
	judge(1)
	judge(2)
	now = right
	l.Snapshot()
	now = right.Add(time.Hour)
	judge(3)
	all := Merge(l.Snapshot(), l.Snapshot()) // as with what another instance has
	if files := all.Sites[0].VersionHits; len(files) != maxVersions || files[0].Version != (Version{3}) {
		t.Errorf("the lines are counted of %d texts, first of %s", len(files), files[0].Version)
	}
}

package publish

import (
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/site"
)

// TestFileDateNeverGoesBack changes the served rules. The start of the next rules, which is
// Last-Modified, is not before the start of the previous ones.
func TestFileDateNeverGoesBack(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 3, 1, 12, minute, 0, 0, time.UTC) }
	rules := func(published, canary int) *servedRules {
		e := &servedRules{published: servedSchedule{since: at(published)}}
		if canary > 0 {
			e.trial.since, e.canaryHosts = at(canary), new(site.Hosts)
		}
		return e
	}
	for _, c := range []struct {
		name              string
		previous, next    *servedRules
		published, canary int
	}{
		{"the first rules", nil, rules(5, 0), 5, 0},
		{"a later change is published", rules(5, 0), rules(7, 0), 7, 0},
		{"a canary begins", rules(5, 0), rules(5, 7), 5, 7},
		{"a canary is stopped", rules(5, 7), rules(5, 0), 30, 0},
		{"a canary is promoted", rules(5, 7), rules(9, 0), 9, 0},
		{"an earlier change follows", rules(7, 0), rules(5, 0), 30, 0},
		{"a canary from before the previous rules", rules(9, 0), rules(9, 7), 9, 30},
	} {
		c.next.startAfter(c.previous, at(30))
		if got := c.next.published.since; !got.Equal(at(c.published)) {
			t.Errorf("%s: published since %v, want minute %d", c.name, got, c.published)
		}
		if got := c.next.trial.since; c.canary > 0 && !got.Equal(at(c.canary)) {
			t.Errorf("%s: canary since %v, want minute %d", c.name, got, c.canary)
		}
	}
}

// TestFileDateAfterRestart reads the history of a stopped canary. Last-Modified is not before the end
// of the canary.
func TestFileDateAfterRestart(t *testing.T) {
	p, noon := new(Publisher), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	p.Now = func() time.Time { return noon }
	p.servedRules.Store(&servedRules{published: servedSchedule{id: "1"}}) // has the schedule
	served, err := p.rulesOf(t.Context(), &History{
		Published: &Change{ID: "1", Since: noon.Add(-3 * time.Hour)},
		Past:      []Change{{Since: noon.Add(-time.Hour)}, {Since: noon.Add(-3 * time.Hour)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := served.published.since, noon.Add(-time.Hour); !got.Equal(want) {
		t.Errorf("published since %v, want %v", got, want)
	}
}

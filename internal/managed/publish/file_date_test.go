package publish

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// TestDatesOfServedFiles changes the file of a site in each way. A changed file always has a later
// Last-Modified.
func TestDatesOfServedFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage, server := storetest.New(), serverFor("a.test")
		i := newInstance(t, storage, "one")
		var last *Page
		servedAfter := func(step string) {
			t.Helper()
			page, _ := i.Page(asks(server, "a.test"))
			if page == nil {
				t.Fatalf("%s: there is no page", step)
			}
			if last != nil && (page.text == last.text || !page.modified.After(last.modified)) {
				t.Errorf("%s: %q of %v after %q of %v", step, page.text, page.modified, last.text, last.modified)
			}
			last = page
			time.Sleep(time.Hour)
		}
		i.load(disallow("GPTBot", "/a"))
		servedAfter("the first change")
		i.rollout = Rollout{State: Canary, Hosts: []string{"a.test"}}
		i.load(disallow("GPTBot", "/b"))
		servedAfter("a canary")
		if err := acts(i, "stop"); err != nil {
			t.Fatal(err)
		}
		servedAfter("its end")
		i.rollout = Rollout{}
		i.load(disallow("GPTBot", "/c"))
		servedAfter("the next change")
		if err := acts(i, "rollback"); err != nil {
			t.Fatal(err)
		}
		servedAfter("a rollback")

		storage.SetErr(errors.New("the storage does not answer"))
		i = newInstance(t, storage, "one")
		i.load(disallow("GPTBot", "/c")) // as before the rollback
		servedAfter("a restart without the storage")
		storage.SetErr(nil)
		time.Sleep(readInterval)
		synctest.Wait()
		servedAfter("the storage")
	})
}

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
		c.next.postponeStarts(c.previous, at(30))
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
	served, err := p.loadServedRules(t.Context(), &History{
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

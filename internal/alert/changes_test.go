package alert

import (
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// A change that waits for confirmation is told until somebody confirms it; a trial that
// ended by itself until another change is made, or for a day.
func TestChanges(t *testing.T) {
	w := newWorld(t)
	published := report.ManagedChange{Number: 1, ID: "published", State: "published", Since: w.time}
	change := report.ManagedChange{Number: 2, ID: "first", State: report.ChangeWaiting, Since: w.time,
		Reasons: []string{"Googlebot may not fetch / any more", "bingbot may not fetch /shop any more", "x", "y"}}
	becomes := func(state, stopped string) {
		change.State, change.StopReason, change.Since = state, stopped, w.time
		w.changes["a.test,b.test"] = []report.ManagedChange{published, change}
		w.pass(time.Minute)
	}
	w.changes = map[string][]report.ManagedChange{"a.test,b.test": {change, published}}
	w.want("it waits", "open warning change_waiting")
	if a := w.only(); a.Site != "a.test,b.test" || !a.Since.Equal(start) || !strings.HasPrefix(a.Detail, "Googlebot may not fetch / any more; bingbot may not fetch /shop any more; x. Until then") ||
		!strings.Contains(a.RemedySnippet, "managed confirm --site 'a.test,b.test' ") {
		t.Errorf("got %+v", a)
	}
	w.time = w.time.Add(time.Hour)
	becomes("shadow", "")
	w.want("it is tried", "over warning change_waiting")
	becomes("rejected", "")
	w.want("a person has given it up", "over warning change_waiting")
	becomes("rejected", "Googlebot would be forbidden /x")
	w.want("it was stopped", "open warning change_stopped, over warning change_waiting")
	if a := w.List().Alerts[0]; !strings.Contains(a.Detail, "Googlebot would be forbidden /x. The previous file stays in force.") {
		t.Errorf("got %+v", a)
	}
	stopped := w.changes["a.test,b.test"]
	w.changes["a.test,b.test"] = append([]report.ManagedChange{{Number: 3, ID: "second", State: "shadow", Since: w.time}}, stopped...)
	w.pass(time.Minute)
	w.want("another is tried", "over warning change_stopped, over warning change_waiting")
	w.changes["a.test,b.test"] = stopped
	w.leap(endedRetention + time.Minute)
	w.leap(endedRetention)
	w.want("after a day", "")
}

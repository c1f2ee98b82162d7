package alert

import (
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
)

// A change that waits for confirmation is told until somebody confirms it; a trial that
// ended by itself until another change is made, or for a day.
func TestChanges(t *testing.T) {
	w := newWorld(t)
	submit := func(s publish.State, spec string, reasons ...string) publish.State {
		s, _ = s.Submit(publish.Submission{
			ID: publish.IDOf([]byte(spec)), Instance: "web1", Origin: publish.FromConfiguration, By: publish.By{Who: "configuration"},
			Reasons: reasons, Rollout: publish.Rollout{Stage: publish.Shadow},
		}, w.time)
		return s
	}
	state := submit(publish.State{}, "first", "Googlebot may not fetch / any more", "bingbot may not fetch /shop any more", "x", "y")
	w.changes = map[string]publish.State{"a.test,b.test": state}
	w.want("it waits", "open warning change_waiting")
	if a := w.only(); a.Site != "a.test,b.test" || !a.Since.Equal(start) || !strings.HasPrefix(a.Detail, "Googlebot may not fetch / any more; bingbot may not fetch /shop any more; x. Until then") ||
		!strings.Contains(a.Copy, "managed confirm --site 'a.test,b.test' ") {
		t.Errorf("got %+v", a)
	}
	w.time = w.time.Add(time.Hour)
	state, _, err := state.Confirm("", publish.By{Who: "ann", Why: "meant"}, w.time)
	if err != nil {
		t.Fatal(err)
	}
	w.changes["a.test,b.test"] = state
	w.pass(time.Minute)
	w.want("it is tried", "over warning change_waiting")
	if w.changes["a.test,b.test"], _, err = state.Stop("", publish.By{Who: "ann", Why: "not now"}, w.time); err != nil {
		t.Fatal(err)
	}
	w.pass(time.Minute)
	w.want("a person has given it up", "over warning change_waiting")
	if state, _, err = state.Stop("", publish.By{Who: publish.ByTrial, Why: "Googlebot would be forbidden /x"}, w.time); err != nil {
		t.Fatal(err)
	}
	w.changes["a.test,b.test"] = state
	w.pass(time.Minute)
	w.want("it was stopped", "open warning change_stopped, over warning change_waiting")
	if a := w.List().Alerts[0]; !strings.Contains(a.Detail, "Googlebot would be forbidden /x. What was published before stays.") {
		t.Errorf("got %+v", a)
	}
	w.changes["a.test,b.test"] = submit(state, "second")
	w.pass(time.Minute)
	w.want("another is tried", "over warning change_stopped, over warning change_waiting")
	w.changes["a.test,b.test"] = state
	w.leap(showOver + time.Minute)
	w.leap(showOver)
	w.want("after a day", "")
}

package guard

import (
	"fmt"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
)

// counted counts changes and failures of the history.
type counted struct {
	publish.Observer
	changes, failures int
}

func (c *counted) OnChangeState(string, publish.Change) { c.changes++ }
func (c *counted) OnHistoryFailed(string, error)        { c.failures++ }

// TestChangeEvents checks that each state of a change emits an event with the person
// and the reason, in addition to the metrics.
func TestChangeEvents(t *testing.T) {
	var e told
	metrics := new(counted)
	o := e.events().WrapObserver(metrics)
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	change := publish.Change{
		ID: "0123456789abcdef", State: publish.Waiting, Origin: publish.FromConfiguration, Submitted: publish.Decision{User: "configuration", At: at},
		Reasons: []string{"Googlebot may not fetch / any more", "bingbot may not"}, Difference: []string{"+ disallow *"},
	}
	confirmed := change
	confirmed.State = publish.Published
	confirmed.ConfirmedBy = &publish.Decision{User: "ann", Reason: "it is closed", Ticket: "OPS-1", At: at.Add(time.Hour)}
	for _, step := range []struct {
		change publish.Change
		want   string
	}{
		{change, "robots_change_waiting a.test waiting 0123456789abcdef configuration configuration   Googlebot may not fetch / any more; bingbot may not + disallow *"},
		{confirmed, "robots_change_published a.test published 0123456789abcdef configuration ann it is closed OPS-1 Googlebot may not fetch / any more; bingbot may not + disallow *"},
	} {
		e.done.Add(1)
		o.OnChangeState("a.test", step.change)
		e.done.Wait()
		d := e.data[len(e.data)-1]
		if got := fmt.Sprint(d["event"], " ", d["site"], " ", d["state"], " ", d["change"], " ", d["origin"], " ", d["who"], " ", d["why"], " ", d["ticket"], " ", d["reasons"], " ", d["difference"]); got != step.want {
			t.Errorf("got %s, want %s", got, step.want)
		}
	}
	o.OnHistoryFailed("a.test", nil)
	if len(e.data) != 2 || metrics.changes != 2 || metrics.failures != 1 {
		t.Errorf("%d events, %+v", len(e.data), metrics)
	}
}

package guard

import (
	"fmt"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestParityEvent checks that the guard of the site, and no other, reports once that a
// crawler is denied, and once that this has ended.
func TestParityEvent(t *testing.T) {
	g, other := recordingGuard(t, options{}, mixedRobots), recordingGuard(t, options{}, mixedRobots)
	var e, none told
	g.Events, other.Events = e.events(), none.events()
	other.shared = g.shared
	for label, of := range map[string]*Guard{"a.test": g, "b.test": other} {
		g.shared.presences.add(of, &Judgement{Site: &site.Site{Label: label, Key: policy.Key{Host: label}}})
	}
	of := func(id string, kind alert.Kind, state alert.State) alert.Alert {
		return alert.Alert{ID: id, Kind: kind, Site: "a.test", Crawler: "bingbot", Severity: alert.Warning, State: state}
	}
	e.done.Add(3)
	for _, states := range [][]alert.State{
		{alert.Over, alert.Open}, {alert.Over, alert.Open}, {alert.Over, alert.Acknowledged}, {alert.Over, alert.Over}, {alert.Over, alert.Over}, {}, {alert.Over, alert.Open},
	} {
		var list []alert.Alert
		for i, state := range states {
			list = append(list, of(fmt.Sprint("pages_refused-", i), alert.PagesRefused, state), of("new", alert.NewCrawler, alert.Open))
		}
		other.tellParity(list)
		g.tellParity(list)
	}
	e.done.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	over := 0
	for _, data := range e.data {
		if data["event"] != "robots_parity" || data["site"] != "a.test" || data["crawler"] != "bingbot" || data["finding"] != "pages_refused" || data["severity"] != "warning" {
			t.Errorf("%v", data)
		}
		if data["over"] == true {
			over++
		}
	}
	if len(e.data) != 3 || over != 1 || len(none.data) > 0 {
		t.Errorf("%d events, %d of them over, and %d of another site", len(e.data), over, len(none.data))
	}
}

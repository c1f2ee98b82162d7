package guard

import (
	"fmt"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
)

// TestParityEvent checks that an event reports once that a crawler is denied, and once that this has
// ended.
func TestParityEvent(t *testing.T) {
	var e told
	events, shared := e.events(), NewState()
	defer func() { _ = shared.Destruct() }()
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
		shared.emitAlertEvents(events, list)
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
	if len(e.data) != 3 || over != 1 {
		t.Errorf("%d events, %d of them over", len(e.data), over)
	}
}

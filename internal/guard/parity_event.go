package guard

import (
	"slices"
	"sync"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
)

// eventParity is the event about a crawler that does not get allowed pages, and about the end of that.
const eventParity = "robots_parity"

// parityTold has the alerts that were sent as events. It survives a reload and has at most as many
// entries as there are alerts. The zero value is empty.
type parityTold struct {
	mu   sync.Mutex
	told map[string]alert.State // by ID
}

// news reports whether an alert has begun or ended since its last event.
func (t *parityTold) news(a *alert.Alert) bool {
	state := a.State
	if state == alert.Acknowledged {
		state = alert.Open
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	before, known := t.told[a.ID]
	if before == state || !known && state == alert.Over {
		return false
	}
	if t.told == nil {
		t.told = make(map[string]alert.State)
	}
	t.told[a.ID] = state
	return true
}

// keep drops all alerts that are not in a list.
func (t *parityTold) keep(list alert.List) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id := range t.told {
		if !slices.ContainsFunc(list.Alerts, func(a alert.Alert) bool { return a.ID == id }) {
			delete(t.told, id)
		}
	}
}

// tellParity emits an event for each response-audit alert of this guard's sites that has begun or ended.
func (g *Guard) tellParity(list alert.List) {
	if !g.Events.wanted(eventParity) {
		return
	}
	for i := range list.Alerts {
		a := &list.Alerts[i]
		if !slices.Contains(responseaudit.FindingKinds(), responseaudit.FindingKind(a.Kind)) {
			continue
		}
		if !g.judgesFor(a.Site) || !g.shared.parityTold.news(a) {
			continue
		}
		g.Events.Send(eventParity, map[string]any{
			"site":     a.Site,
			"crawler":  a.Crawler,
			"finding":  string(a.Kind),
			"severity": string(a.Severity),
			"over":     a.State == alert.Over,
			"since":    a.Since.Format(time.RFC3339),
			"title":    a.Title,
			"detail":   a.Detail,
		})
	}
	g.shared.parityTold.keep(list)
}

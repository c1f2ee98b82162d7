package notify

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
)

const (
	maxMessage = 20   // alerts in one
	maxTold    = 1000 // alerts that a receiver is known to have been told, beside those of the last list
	// pause is after what time it is tried again where a receiver takes nothing.
	pause = 15 * time.Minute
)

// Told remembers what receivers were told, over a reload, and over a restart if it is kept.
// The zero value has told nobody anything.
type Told struct {
	revision atomic.Uint64

	mu       sync.Mutex
	groups   map[string]*group // by URL
	used     []*[]string       // those of each configuration that runs
	instance string            // "" if nothing is kept
	took     bool              // over what was kept
}

// group returns what a receiver was told.
func (t *Told) group(key string) *group {
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.groups[key]
	if g == nil {
		if t.groups == nil {
			t.groups = make(map[string]*group)
		}
		g = &group{busy: make(chan struct{}, 1), told: make(map[string]alert.Alert), earlier: make(map[string]bool), waits: make(map[string]time.Time), changes: &t.revision}
		t.groups[key] = g
	}
	return g
}

// use has these receivers be remembered until ctx ends. Those that only this configuration
// had are forgotten then, unless it is the last one: it may be stored yet what they were told.
func (t *Told) use(ctx context.Context, keys []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine := &keys
	t.used = append(t.used, mine)
	context.AfterFunc(ctx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.used = slices.DeleteFunc(t.used, func(other *[]string) bool { return other == mine })
		if len(t.used) > 0 {
			t.forget()
		}
	})
}

// forget forgets the receivers that no configuration has. t.mu must be held.
func (t *Told) forget() {
	for key := range t.groups {
		if !slices.ContainsFunc(t.used, func(keys *[]string) bool { return slices.Contains(*keys, key) }) {
			delete(t.groups, key)
			t.revision.Add(1)
		}
	}
}

// group gathers what a receiver is told next.
type group struct {
	busy    chan struct{}  // has one value while the receiver is told something
	changes *atomic.Uint64 // how often told has changed

	mu      sync.Mutex
	told    map[string]alert.Alert // as open, and it is not known to be over
	earlier map[string]bool        // told before the start, and not found again since
	first   time.Time              // when the first list came
	waits   map[string]time.Time   // since when what is not told yet
	last    time.Time              // when something was told
	rests   time.Time              // until when nothing is tried
}

// terms are when a receiver is told, and what.
type terms struct {
	least          alert.Severity
	wait, interval time.Duration
}

// due returns what is to be told now. If that is nothing, it returns when to ask
// again, the zero time for when something has changed.
func (g *group) due(list alert.List, by terms, now time.Time) (m Message, ok bool, next time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	began, ended := g.news(list, by.least)
	all := slices.Concat(began, ended)
	news := make(map[string]bool)
	var first time.Time
	for _, a := range all {
		news[a.ID] = true
		since, known := g.waits[a.ID]
		if !known {
			since = now
			g.waits[a.ID] = since
		}
		if first.IsZero() || since.Before(first) {
			first = since
		}
	}
	for id := range g.waits {
		if !news[id] {
			delete(g.waits, id)
		}
	}
	if len(all) == 0 {
		return m, false, time.Time{}
	}
	next = first.Add(by.wait)
	for _, other := range []time.Time{g.last.Add(by.interval), g.rests} {
		if other.After(next) {
			next = other
		}
	}
	if now.Before(next) {
		return m, false, next
	}
	began, ended = g.cut(began, maxMessage), ended[:min(len(ended), maxMessage)]
	ended = ended[:min(len(ended), maxMessage-len(began))]
	return Message{Version: 1, Sent: now.UTC(), Open: nonNil(began), Over: nonNil(ended), More: len(all) - len(began) - len(ended)}, true, next
}

func (g *group) cut(all []alert.Alert, most int) []alert.Alert { return all[:min(len(all), most)] }

func nonNil(all []alert.Alert) []alert.Alert { return append([]alert.Alert{}, all...) }

// news returns what has begun and what is over, of what the receiver wants to know.
// g.mu must be held.
func (g *group) news(list alert.List, least alert.Severity) (began, ended []alert.Alert) {
	if g.first.IsZero() {
		g.first = list.Generated
	}
	so := make(map[string]bool)
	for _, a := range list.Alerts {
		_, told := g.told[a.ID]
		switch {
		case a.State == alert.Over:
			continue
		case a.State == alert.Open && !told && a.Severity.AtLeast(least):
			began = append(began, a)
		}
		so[a.ID] = true
		delete(g.earlier, a.ID)
	}
	for id, a := range g.told {
		unsure := list.More > 0 || g.earlier[id] && list.Generated.Sub(g.first) < settles // one that is left out may still be so
		if so[id] || unsure && !isOver(list, id) {
			continue
		}
		a.State, a.Until = alert.Over, list.Generated
		ended = append(ended, a)
	}
	slices.SortFunc(ended, func(x, y alert.Alert) int {
		return slices.Index(alert.Severities(), x.Severity) - slices.Index(alert.Severities(), y.Severity)
	})
	return began, ended
}

func isOver(list alert.List, id string) bool {
	return slices.ContainsFunc(list.Alerts, func(a alert.Alert) bool { return a.ID == id && a.State == alert.Over })
}

// delivered takes note of what was told. What was left out of a message for its
// length counts as told: the receiver knows how many there are.
func (g *group) delivered(m Message, list alert.List, by terms, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	began, ended := g.news(list, by.least)
	for _, a := range began {
		g.told[a.ID] = a
		delete(g.waits, a.ID)
	}
	for _, a := range ended {
		delete(g.told, a.ID)
		delete(g.earlier, a.ID)
		delete(g.waits, a.ID)
	}
	if len(g.told) > maxTold { // of lists that leave out some, so that nothing is known to be over
		listed := make(map[string]bool)
		for _, a := range list.Alerts {
			listed[a.ID] = true
		}
		maps.DeleteFunc(g.told, func(id string, _ alert.Alert) bool { return !listed[id] })
	}
	g.last = now
	g.changes.Add(1)
}

// failed takes note of a receiver that takes nothing.
func (g *group) failed(now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rests = now.Add(pause)
}

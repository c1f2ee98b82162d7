package notify

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
)

const (
	maxMessage = 20   // alerts in one message
	maxSent    = 1000 // maximum number of remembered alerts, in addition to the last list
	// pause is the wait after a receiver accepted no message.
	pause = 15 * time.Minute
)

// queue records the alerts that a receiver was sent and selects the next.
type queue struct {
	busy    chan struct{}  // contains one value while a message is being sent
	changes *atomic.Uint64 // how often sent has changed

	mu      sync.Mutex
	sent    map[string]alert.Alert // as open, and whose end was not sent, by ID
	earlier map[string]bool        // IDs sent before the start and not found since
	first   time.Time              // time of the first list
	waits   map[string]time.Time   // start of the wait of unsent alerts, by ID
	last    time.Time              // time of the last message
	rests   time.Time              // end of the pause
}

// terms say which alerts a receiver is sent, and how often.
type terms struct {
	least          alert.Severity
	wait, interval time.Duration
}

// due returns the message to send now. Otherwise it returns the time of the next call, or the
// zero time if only a new list changes the result.
func (q *queue) due(list alert.List, by terms, now time.Time) (m Message, ok bool, next time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	began, ended := q.news(list, by.least)
	all := slices.Concat(began, ended)
	news := make(map[string]bool)
	var first time.Time
	for _, a := range all {
		news[a.ID] = true
		since, known := q.waits[a.ID]
		if !known {
			since = now
			q.waits[a.ID] = since
		}
		if first.IsZero() || since.Before(first) {
			first = since
		}
	}
	for id := range q.waits {
		if !news[id] {
			delete(q.waits, id)
		}
	}
	if len(all) == 0 {
		return m, false, time.Time{}
	}
	next = first.Add(by.wait)
	for _, other := range []time.Time{q.last.Add(by.interval), q.rests} {
		if other.After(next) {
			next = other
		}
	}
	if now.Before(next) {
		return m, false, next
	}
	began, ended = q.cut(began, maxMessage), ended[:min(len(ended), maxMessage)]
	ended = ended[:min(len(ended), maxMessage-len(began))]
	return Message{Version: 1, Sent: now.UTC(), Open: nonNil(began), Over: nonNil(ended), More: len(all) - len(began) - len(ended)}, true, next
}

func (q *queue) cut(all []alert.Alert, most int) []alert.Alert { return all[:min(len(all), most)] }

func nonNil(all []alert.Alert) []alert.Alert { return append([]alert.Alert{}, all...) }

// news returns the new and the ended alerts that the receiver was not sent. q.mu must be
// held.
func (q *queue) news(list alert.List, least alert.Severity) (began, ended []alert.Alert) {
	if q.first.IsZero() {
		q.first = list.Generated
	}
	listed := make(map[string]bool)
	for _, a := range list.Alerts {
		_, sent := q.sent[a.ID]
		switch {
		case a.State == alert.Over:
			continue
		case a.State == alert.Open && !sent && a.Severity.AtLeast(least):
			began = append(began, a)
		}
		listed[a.ID] = true
		delete(q.earlier, a.ID)
	}
	for id, a := range q.sent {
		unsure := list.More > 0 || q.earlier[id] && list.Generated.Sub(q.first) < settles // an alert beyond the limit of a list can still be open
		if listed[id] || unsure && !isOver(list, id) {
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

// delivered records a message as sent. Omitted alerts count as sent, because the message
// contains their number.
func (q *queue) delivered(m Message, list alert.List, by terms, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	began, ended := q.news(list, by.least)
	for _, a := range began {
		q.sent[a.ID] = a
		delete(q.waits, a.ID)
	}
	for _, a := range ended {
		delete(q.sent, a.ID)
		delete(q.earlier, a.ID)
		delete(q.waits, a.ID)
	}
	if len(q.sent) > maxSent { // lists with omitted alerts do not show all ended alerts
		listed := make(map[string]bool)
		for _, a := range list.Alerts {
			listed[a.ID] = true
		}
		maps.DeleteFunc(q.sent, func(id string, _ alert.Alert) bool { return !listed[id] })
	}
	q.last = now
	q.changes.Add(1)
}

// failed records that the receiver did not accept a message.
func (q *queue) failed(now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.rests = now.Add(pause)
}

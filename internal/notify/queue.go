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
	maxAlertsPerMessage = 20   // alerts in one message
	maxSentAlerts       = 1000 // maximum number of remembered alerts, in addition to the last list
	// failurePause is the wait after a receiver accepted no message.
	failurePause = 15 * time.Minute
)

// queue records the alerts that a receiver was sent and selects the next.
type queue struct {
	busy     chan struct{}  // contains one value while a message is being sent
	revision *atomic.Uint64 // number of changes of sentAlerts

	mu              sync.Mutex
	sentAlerts      map[string]alert.Alert // as open, and whose end was not sent, by ID
	sentBeforeStart map[string]bool        // IDs sent before the start and not found since
	firstList       time.Time              // time of the first list
	waitingSince    map[string]time.Time   // start of the wait of unsent alerts, by ID
	lastMessage     time.Time              // time of the last message
	pausedUntil     time.Time              // end of the pause
}

// deliverySettings determine which alerts a receiver is sent, and how often.
type deliverySettings struct {
	minSeverity    alert.Severity
	wait, interval time.Duration
}

// nextMessage returns the message to send now. Otherwise it returns the time of the next call, or the
// zero time if only a new list changes the result.
func (q *queue) nextMessage(list alert.List, settings deliverySettings, now time.Time) (m Message, ok bool, next time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	opened, ended := q.pendingAlerts(list, settings.minSeverity)
	pending := slices.Concat(opened, ended)
	pendingIDs := make(map[string]bool)
	var earliest time.Time
	for _, a := range pending {
		pendingIDs[a.ID] = true
		since, known := q.waitingSince[a.ID]
		if !known {
			since = now
			q.waitingSince[a.ID] = since
		}
		if earliest.IsZero() || since.Before(earliest) {
			earliest = since
		}
	}
	for id := range q.waitingSince {
		if !pendingIDs[id] {
			delete(q.waitingSince, id)
		}
	}
	if len(pending) == 0 {
		return m, false, time.Time{}
	}
	next = earliest.Add(settings.wait)
	for _, earliestAllowed := range []time.Time{q.lastMessage.Add(settings.interval), q.pausedUntil} {
		if earliestAllowed.After(next) {
			next = earliestAllowed
		}
	}
	if now.Before(next) {
		return m, false, next
	}
	opened, ended = q.truncate(opened, maxAlertsPerMessage), ended[:min(len(ended), maxAlertsPerMessage)]
	ended = ended[:min(len(ended), maxAlertsPerMessage-len(opened))]
	return Message{Version: 1, Sent: now.UTC(), Open: nonNil(opened), Over: nonNil(ended), More: len(pending) - len(opened) - len(ended)}, true, next
}

func (q *queue) truncate(all []alert.Alert, maxLen int) []alert.Alert {
	return all[:min(len(all), maxLen)]
}

func nonNil(all []alert.Alert) []alert.Alert { return append([]alert.Alert{}, all...) }

// pendingAlerts returns the new and the ended alerts that the receiver was not sent. q.mu must be
// held.
func (q *queue) pendingAlerts(list alert.List, minSeverity alert.Severity) (opened, ended []alert.Alert) {
	if q.firstList.IsZero() {
		q.firstList = list.Generated
	}
	listedIDs := make(map[string]bool)
	for _, a := range list.Alerts {
		_, sent := q.sentAlerts[a.ID]
		switch {
		case a.State == alert.Over:
			continue
		case a.State == alert.Open && !sent && a.Severity.AtLeast(minSeverity):
			opened = append(opened, a)
		}
		listedIDs[a.ID] = true
		delete(q.sentBeforeStart, a.ID)
	}
	for id, a := range q.sentAlerts {
		isUncertain := list.More > 0 || q.sentBeforeStart[id] && list.Generated.Sub(q.firstList) < restartGracePeriod // an alert beyond the limit of a list can still be open
		if listedIDs[id] || isUncertain && !hasEnded(list, id) {
			continue
		}
		a.State, a.Until = alert.Over, list.Generated
		ended = append(ended, a)
	}
	slices.SortFunc(ended, func(x, y alert.Alert) int {
		return slices.Index(alert.Severities(), x.Severity) - slices.Index(alert.Severities(), y.Severity)
	})
	return opened, ended
}

func hasEnded(list alert.List, id string) bool {
	return slices.ContainsFunc(list.Alerts, func(a alert.Alert) bool { return a.ID == id && a.State == alert.Over })
}

// recordDelivered records a message as sent. Omitted alerts count as sent, because the message
// contains their number.
func (q *queue) recordDelivered(m Message, list alert.List, settings deliverySettings, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	opened, ended := q.pendingAlerts(list, settings.minSeverity)
	for _, a := range opened {
		q.sentAlerts[a.ID] = a
		delete(q.waitingSince, a.ID)
	}
	for _, a := range ended {
		delete(q.sentAlerts, a.ID)
		delete(q.sentBeforeStart, a.ID)
		delete(q.waitingSince, a.ID)
	}
	if len(q.sentAlerts) > maxSentAlerts { // lists with omitted alerts do not show all ended alerts
		listedIDs := make(map[string]bool)
		for _, a := range list.Alerts {
			listedIDs[a.ID] = true
		}
		maps.DeleteFunc(q.sentAlerts, func(id string, _ alert.Alert) bool { return !listedIDs[id] })
	}
	q.lastMessage = now
	q.revision.Add(1)
}

// recordFailure records that the receiver did not accept a message.
func (q *queue) recordFailure(now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pausedUntil = now.Add(failurePause)
}

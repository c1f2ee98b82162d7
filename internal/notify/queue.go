package notify

import (
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
)

const (
	// failurePause is the pause after a receiver did not accept a message.
	failurePause = 15 * time.Minute
	// restartGracePeriod is the time after a start in which an alert sent before the start counts
	// as open, even if it was not found again yet.
	restartGracePeriod = time.Hour
)

// deliveryQueue remembers the alerts sent to one receiver, and selects the alerts to send next.
type deliveryQueue struct {
	history  *DeliveryHistory
	sendLock chan struct{} // sendLock contains one value while a configuration uses the queue.

	// The lock of history guards the following fields.
	sent map[string]sentAlert // alerts sent as open whose end was not sent yet, by ID
	// waitingSince has the time since when each unsent alert has been waiting, by the ID of the alert.
	waitingSince map[string]time.Time
	lastSent     time.Time // lastSent is the time of the last accepted message.
	pausedUntil  time.Time // pausedUntil is the end of the pause after a failure.
	firstUpdate  time.Time // firstUpdate is the time of the first call of nextToSend.
}

// sentAlert is an alert whose end was not sent to the receiver yet.
type sentAlert struct {
	alert.Alert
	isRestored bool // isRestored is true if the alert was sent before the start and was not found again since.
}

// deliverySettings say which alerts a receiver gets, and how often.
type deliverySettings struct {
	minSeverity    alert.Severity
	wait, interval time.Duration
}

// pendingAlerts are the alerts to send: new ones, and the ones that have ended.
type pendingAlerts struct{ opened, ended []alert.Alert }

// nextToSend returns the alerts to send. ok reports whether they are due now. Otherwise next is the
// time at which to call nextToSend again, or zero if only an update of the alerts changes the
// result.
func (q *deliveryQueue) nextToSend(alerts []alert.Alert, settings deliverySettings, now time.Time) (p pendingAlerts, ok bool, next time.Time) {
	q.history.mu.Lock()
	defer q.history.mu.Unlock()
	if q.firstUpdate.IsZero() {
		q.firstUpdate = now
	}
	p = q.findPending(alerts, settings.minSeverity, now)
	waitingSince := make(map[string]time.Time) // This drops alerts that are not pending any more.
	earliest := now
	for _, a := range slices.Concat(p.opened, p.ended) {
		since, known := q.waitingSince[a.ID]
		if !known {
			since = now
		}
		waitingSince[a.ID] = since
		if since.Before(earliest) {
			earliest = since
		}
	}
	if q.waitingSince = waitingSince; len(waitingSince) == 0 {
		return p, false, time.Time{}
	}
	next = earliest.Add(settings.wait)
	for _, allowed := range []time.Time{q.lastSent.Add(settings.interval), q.pausedUntil} {
		if next.Before(allowed) {
			next = allowed
		}
	}
	return p, !now.Before(next), next
}

// findPending returns the new alerts, and the ended alerts whose end was not sent to the receiver
// yet.
func (q *deliveryQueue) findPending(alerts []alert.Alert, minSeverity alert.Severity, now time.Time) (p pendingAlerts) {
	isGracePeriod := now.Sub(q.firstUpdate) < restartGracePeriod
	isOpen := make(map[string]bool)       // The key is the ID of a listed alert.
	endedAt := make(map[string]time.Time) // These are the ends of listed alerts that are over.
	for _, a := range alerts {
		sent, isSent := q.sent[a.ID]
		if isOpen[a.ID] = a.State != alert.Over; !isOpen[a.ID] {
			endedAt[a.ID] = a.Until
			continue
		}
		if isSent {
			sent.isRestored = false
			q.sent[a.ID] = sent
		} else if a.State == alert.Open && a.Severity.AtLeast(minSeverity) {
			p.opened = append(p.opened, a)
		}
	}
	for id, sent := range q.sent {
		open, isListed := isOpen[id]
		if open || !isListed && sent.isRestored && isGracePeriod {
			continue
		}
		sent.State, sent.Until = alert.Over, endedAt[id]
		if sent.Until.IsZero() { // The alert is not listed any more, for example after a restart.
			sent.Until = now.UTC()
		}
		p.ended = append(p.ended, sent.Alert)
	}
	slices.SortFunc(p.ended, func(x, y alert.Alert) int { return x.Severity.Compare(y.Severity) })
	return p
}

// recordSent records that the receiver accepted a message with the given alerts.
func (q *deliveryQueue) recordSent(p pendingAlerts, now time.Time) {
	q.history.mu.Lock()
	defer q.history.mu.Unlock()
	for _, a := range p.opened {
		q.sent[a.ID] = sentAlert{Alert: a}
	}
	for _, a := range p.ended {
		delete(q.sent, a.ID)
	}
	clear(q.waitingSince)
	q.lastSent = now
	q.history.revision++
}

// recordFailure starts the pause after a message that the receiver did not accept.
func (q *deliveryQueue) recordFailure(now time.Time) {
	q.history.mu.Lock()
	defer q.history.mu.Unlock()
	q.pausedUntil = now.Add(failurePause)
}

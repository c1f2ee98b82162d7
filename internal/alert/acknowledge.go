package alert

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

const (
	maxIDBytes          = 60
	maxNoteBytes        = 500
	maxUserBytes        = 200 // maxUserBytes is the maximum length of a user name in bytes.
	maxAcknowledgements = 500
	// acknowledgementRetention is the time after LastOpen for which the acknowledgement of an ended
	// alert stays valid.
	acknowledgementRetention = 24 * time.Hour
	// lastOpenInterval is the interval of updates of LastOpen, because each update is stored.
	lastOpenInterval = 6 * time.Hour
)

// ErrUnknown is the error for an alert that does not exist or has ended.
var ErrUnknown = errors.New("no such alert is open")

// acknowledgementStore has the acknowledgements of alerts, by ID of the alert.
type acknowledgementStore struct {
	byID     map[string]storedAcknowledgement
	revision uint64 // revision is the number of changes on this instance.
}

// storedAcknowledgement is an acknowledgement with the data that instances exchange through the
// storage.
type storedAcknowledgement struct {
	ID string `json:"id"`
	// IsWithdrawn reports whether the acknowledgement was withdrawn. It then stays for
	// acknowledgementRetention, so that other instances learn of the withdrawal.
	IsWithdrawn bool `json:"undone,omitempty"`
	// LastOpen is a time at which the alert was open. It can be up to lastOpenInterval too early.
	LastOpen time.Time `json:"last,omitzero"`
	Acknowledgement
}

// apply returns the alert. If it is open and acknowledged, the result contains the acknowledgement.
func (a *acknowledgementStore) apply(alert Alert) Alert {
	if known, ok := a.byID[alert.ID]; ok && !known.IsWithdrawn && alert.State == Open {
		alert.State, alert.Acknowledged = Acknowledged, &known.Acknowledgement
	}
	return alert
}

// record stores an acknowledgement. record returns false if the stored acknowledgement of the alert
// is not older, or if there is no room.
func (a *acknowledgementStore) record(ack storedAcknowledgement) bool {
	known, ok := a.byID[ack.ID]
	if ok && !ack.At.After(known.At) || !ok && len(a.byID) >= maxAcknowledgements {
		return false
	}
	if a.byID == nil {
		a.byID = make(map[string]storedAcknowledgement)
	}
	a.byID[ack.ID] = ack
	a.revision++
	return true
}

// prune removes the acknowledgements of ended alerts whose LastOpen is at least
// acknowledgementRetention ago. prune also updates LastOpen of the acknowledgements of current
// alerts. current contains the IDs of the current alerts.
func (a *acknowledgementStore) prune(now time.Time, current map[string]bool) {
	for id, known := range a.byID {
		if current[id] {
			if now.Sub(known.LastOpen) >= lastOpenInterval {
				known.LastOpen = now
				a.byID[id] = known
				a.revision++
			}
		} else if now.Sub(known.LastOpen) >= acknowledgementRetention {
			delete(a.byID, id)
			a.revision++
		}
	}
}

// Acknowledge marks an alert as known to the owner, so that it no longer counts as open. user is
// empty without a login. The error is [ErrUnknown] if the alert does not exist or has ended.
func (m *Manager) Acknowledge(id, user, note string) (Alert, error) {
	return m.setAcknowledgement(storedAcknowledgement{ID: id, Acknowledgement: Acknowledgement{User: user, Note: note}})
}

// Reopen withdraws the acknowledgement of an alert. The error is [ErrUnknown] if the alert does not
// exist or has ended.
func (m *Manager) Reopen(id string) (Alert, error) {
	return m.setAcknowledgement(storedAcknowledgement{ID: id, IsWithdrawn: true})
}

func (m *Manager) setAcknowledgement(ack storedAcknowledgement) (Alert, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now().UTC()
	alert, ok := m.alerts[ack.ID]
	if !ok || !alert.isListed(now) || alert.State == Over {
		return Alert{}, fmt.Errorf("%.60q: %w", ack.ID, ErrUnknown)
	}
	ack.At, ack.LastOpen = now, now
	if known := m.acknowledgements.byID[ack.ID]; !now.After(known.At) {
		ack.At = known.At.Add(time.Nanosecond) // The resolution of the clock is too coarse.
	}
	ack.truncate()
	if !m.acknowledgements.record(ack) {
		return Alert{}, fmt.Errorf("%d alerts are acknowledged, which is the maximum", maxAcknowledgements)
	}
	return m.acknowledgements.apply(alert), nil
}

// truncate limits the lengths of the strings, which come from people or from the storage.
func (a *storedAcknowledgement) truncate() {
	a.User = text.Truncate(text.Printable(strings.TrimSpace(a.User)), maxUserBytes)
	a.Note = text.Truncate(text.Printable(strings.TrimSpace(a.Note)), maxNoteBytes)
}

// documentVersion is the version of the stored format.
const documentVersion = 1

// storedAcknowledgements is the JSON of all acknowledgements in the storage.
type storedAcknowledgements struct {
	Version      int                     `json:"version"`
	Acknowledged []storedAcknowledgement `json:"acknowledged"`
}

// Revision returns a number that grows with every change of the acknowledgements.
func (m *Manager) Revision() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.acknowledgements.revision
}

// Export returns all acknowledgements for [Manager.Import].
func (m *Manager) Export() ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := storedAcknowledgements{Version: documentVersion, Acknowledged: []storedAcknowledgement{}}
	for _, known := range m.acknowledgements.byID {
		d.Acknowledged = append(d.Acknowledged, known)
	}
	slices.SortFunc(d.Acknowledged, func(x, y storedAcknowledgement) int { return strings.Compare(x.ID, y.ID) })
	return json.Marshal(d)
}

// Import adds acknowledgements that were exported before a restart or by another instance. Import
// skips those that are not newer than a known acknowledgement of the same alert.
func (m *Manager) Import(data []byte) error {
	var d storedAcknowledgements
	if err := json.Unmarshal(data, &d); err != nil {
		return fmt.Errorf("no acknowledgements: %w", err)
	}
	if d.Version != documentVersion || len(d.Acknowledged) > maxAcknowledgements {
		return fmt.Errorf("invalid version %d or number of acknowledgements %d", d.Version, len(d.Acknowledged))
	}
	for _, stored := range d.Acknowledged {
		if len(stored.ID) > maxIDBytes || stored.At.IsZero() {
			return fmt.Errorf("invalid acknowledgement of %.60q at %v", stored.ID, stored.At)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now().UTC()
	for _, stored := range d.Acknowledged {
		if stored.At.After(now) {
			stored.At = now // This limits times from a wrong clock.
		}
		if stored.LastOpen.IsZero() || stored.LastOpen.After(now) {
			stored.LastOpen = now
		}
		if now.Sub(stored.LastOpen) < acknowledgementRetention { // Its writer has not removed an older one yet.
			stored.truncate()
			m.acknowledgements.record(stored)
		}
	}
	return nil
}

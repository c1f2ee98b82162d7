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
	maxUserBytes        = 200 // of a user name
	maxAcknowledgements = 500
	// acknowledgementRetention is the time after LastOpen for which the acknowledgement of an ended
	// alert stays valid.
	acknowledgementRetention = 24 * time.Hour
	// lastOpenInterval is the interval of updates of LastOpen, because each update is stored.
	lastOpenInterval = 6 * time.Hour
)

// ErrUnknown is the error for an alert that does not exist or has ended.
var ErrUnknown = errors.New("no such alert is open")

// acknowledgements are the acknowledgements by alert ID.
type acknowledgements struct {
	byID     map[string]acknowledgement
	revision uint64 // number of changes on this instance
}

// acknowledgement is an acknowledgement with internal data, in memory and in the storage.
type acknowledgement struct {
	ID string `json:"id"`
	// Withdrawn acknowledgements stay for acknowledgementRetention, so that other instances receive
	// the withdrawal.
	IsWithdrawn bool `json:"undone,omitempty"`
	// LastOpen is a time at which the alert was open, at most lastOpenInterval before the last.
	LastOpen time.Time `json:"last,omitzero"`
	Acknowledgement
}

// apply returns an alert with its acknowledgement, if any.
func (a *acknowledgements) apply(alert Alert) Alert {
	if known, ok := a.byID[alert.ID]; ok && !known.IsWithdrawn && alert.State == Open {
		alert.State, alert.Acknowledged = Acknowledged, &known.Acknowledgement
	}
	return alert
}

// set stores an acknowledgement newer than the stored acknowledgement. It returns false for an
// older acknowledgement, or without room.
func (a *acknowledgements) set(ack acknowledgement) bool {
	known, ok := a.byID[ack.ID]
	if ok && !ack.Time.After(known.Time) || !ok && len(a.byID) >= maxAcknowledgements {
		return false
	}
	if a.byID == nil {
		a.byID = make(map[string]acknowledgement)
	}
	a.byID[ack.ID] = ack
	a.revision++
	return true
}

// prune removes acknowledgements of alerts that ended long ago. current contains the IDs of the
// current alerts.
func (a *acknowledgements) prune(now time.Time, current map[string]bool) {
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

// Acknowledge marks an alert as known to the owner. user is empty without a login.
// The error is [ErrUnknown] if the alert is not open.
func (m *Manager) Acknowledge(id, user, note string) (Alert, error) {
	return m.setAcknowledgement(acknowledgement{ID: id, Acknowledgement: Acknowledgement{User: user, Note: note}})
}

// Reopen withdraws an acknowledgement. The error is [ErrUnknown] if the alert is not open.
func (m *Manager) Reopen(id string) (Alert, error) {
	return m.setAcknowledgement(acknowledgement{ID: id, IsWithdrawn: true})
}

func (m *Manager) setAcknowledgement(ack acknowledgement) (Alert, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now().UTC()
	alert, ok := m.alerts[ack.ID]
	if !ok || !alert.isListed(now) || alert.State == Over {
		return Alert{}, fmt.Errorf("%.60q: %w", ack.ID, ErrUnknown)
	}
	ack.Time, ack.LastOpen = now, now
	if known := m.acknowledgements.byID[ack.ID]; !now.After(known.Time) {
		ack.Time = known.Time.Add(time.Nanosecond) // the resolution of the clock is too coarse
	}
	ack.truncate()
	if !m.acknowledgements.set(ack) {
		return Alert{}, fmt.Errorf("%d alerts are acknowledged, which is the maximum", maxAcknowledgements)
	}
	return m.acknowledgements.apply(alert), nil
}

// truncate limits the strings, which come from people or from the storage.
func (a *acknowledgement) truncate() {
	a.User = text.Truncate(text.Printable(strings.TrimSpace(a.User)), maxUserBytes)
	a.Note = text.Truncate(text.Printable(strings.TrimSpace(a.Note)), maxNoteBytes)
}

// documentVersion is the version of the stored format.
const documentVersion = 1

// storedDocument is the stored format.
type storedDocument struct {
	Version      int               `json:"version"`
	Acknowledged []acknowledgement `json:"acknowledged"`
}

// Revision returns the number of changes since the start. Unchanged data are not stored.
func (m *Manager) Revision() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.acknowledgements.revision
}

// Export returns all acknowledgements for [Manager.Import].
func (m *Manager) Export() ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := storedDocument{Version: documentVersion, Acknowledged: []acknowledgement{}}
	for _, known := range m.acknowledgements.byID {
		d.Acknowledged = append(d.Acknowledged, known)
	}
	slices.SortFunc(d.Acknowledged, func(x, y acknowledgement) int { return strings.Compare(x.ID, y.ID) })
	return json.Marshal(d)
}

// Import adds acknowledgements newer than the known acknowledgements. They come from before a
// restart or from another instance.
func (m *Manager) Import(data []byte) error {
	var d storedDocument
	if err := json.Unmarshal(data, &d); err != nil {
		return fmt.Errorf("no acknowledgements: %w", err)
	}
	if d.Version != documentVersion || len(d.Acknowledged) > maxAcknowledgements {
		return fmt.Errorf("invalid version %d or number of acknowledgements %d", d.Version, len(d.Acknowledged))
	}
	for _, stored := range d.Acknowledged {
		if len(stored.ID) > maxIDBytes || stored.Time.IsZero() {
			return fmt.Errorf("invalid acknowledgement of %.60q at %v", stored.ID, stored.Time)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now().UTC()
	for _, stored := range d.Acknowledged {
		if stored.Time.After(now) {
			stored.Time = now // bounds times of a wrong clock
		}
		if stored.LastOpen.IsZero() || stored.LastOpen.After(now) {
			stored.LastOpen = now
		}
		if now.Sub(stored.LastOpen) < acknowledgementRetention { // else its writer has not yet removed it
			stored.truncate()
			m.acknowledgements.set(stored)
		}
	}
	return nil
}

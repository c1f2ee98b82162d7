package alert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

const (
	maxNoteBytes        = 500 // maximum length of a note in bytes
	maxUserBytes        = 200 // maximum length of a user name in bytes
	maxAcknowledgements = 500
	// acknowledgementRetention is the time after the end of an alert for which its acknowledgement stays
	// valid.
	acknowledgementRetention = 24 * time.Hour
	// lastOpenInterval is the interval at which other instances learn that an alert is still
	// open.
	lastOpenInterval = 6 * time.Hour
)

// ErrUnknown is the error for an alert that does not exist or has ended.
var ErrUnknown = errors.New("no such alert is open")

// acknowledgements are the acknowledgements by alert ID. Withdrawn ones stay for acknowledgementRetention,
// so that other instances learn of them.
type acknowledgements struct {
	byID     map[string]*acknowledgementState
	revision uint64 // number of changes on this instance
}

type acknowledgementState struct {
	Acknowledgement
	isWithdrawn    bool
	lastOpen       time.Time // last time at which the alert was open
	sharedLastOpen time.Time // value of lastOpen that other instances know
}

// get returns the acknowledgement of an alert.
func (a *acknowledgements) get(id string) (Acknowledgement, bool) {
	if k := a.byID[id]; k != nil && !k.isWithdrawn {
		return k.Acknowledgement, true
	}
	return Acknowledgement{}, false
}

// set stores an acknowledgement that is newer than the stored one.
func (a *acknowledgements) set(id string, k acknowledgementState) bool {
	existing := a.byID[id]
	if existing != nil && !k.Time.After(existing.Time) || existing == nil && len(a.byID) >= maxAcknowledgements {
		return false
	}
	if a.byID == nil {
		a.byID = make(map[string]*acknowledgementState)
	}
	a.byID[id] = &k
	return true
}

// prune removes acknowledgements of alerts that ended long ago. currentIDs contains the current
// alerts.
func (a *acknowledgements) prune(now time.Time, currentIDs map[string]bool) {
	for id, k := range a.byID {
		if currentIDs[id] {
			if now.Sub(k.sharedLastOpen) >= lastOpenInterval {
				k.sharedLastOpen = now
				a.revision++
			}
			k.lastOpen = now
		} else if now.Sub(k.lastOpen) >= acknowledgementRetention {
			delete(a.byID, id)
			a.revision++
		}
	}
}

// Acknowledge marks an alert as known to the owner. user is empty without a login.
// The error is [ErrUnknown] if the alert is not open.
func (b *Manager) Acknowledge(id, user, note string) (Alert, error) {
	return b.setAcknowledgement(id, acknowledgementState{Acknowledgement: Acknowledgement{User: truncate(user, maxUserBytes), Note: truncate(note, maxNoteBytes)}})
}

// Reopen withdraws an acknowledgement. The error is [ErrUnknown] if the alert is not open.
func (b *Manager) Reopen(id string) (Alert, error) {
	return b.setAcknowledgement(id, acknowledgementState{isWithdrawn: true})
}

func (b *Manager) setAcknowledgement(id string, state acknowledgementState) (Alert, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	entry := b.entries[id]
	if entry == nil || !entry.isListed || entry.State == Over {
		return Alert{}, fmt.Errorf("%.60q: %w", id, ErrUnknown)
	}
	now := b.now().UTC()
	state.Time, state.lastOpen, state.sharedLastOpen = now, now, now
	if existing := b.acknowledgements.byID[id]; existing != nil && !now.After(existing.Time) {
		state.Time = existing.Time.Add(time.Nanosecond) // the resolution of the clock is too coarse
	}
	if !b.acknowledgements.set(id, state) {
		return Alert{}, fmt.Errorf("%d alerts are acknowledged, which is the maximum", maxAcknowledgements)
	}
	b.acknowledgements.revision++
	return b.currentAlert(entry), nil
}

func truncate(s string, maxBytes int) string {
	return text.Truncate(text.Printable(strings.TrimSpace(s)), maxBytes)
}

// documentVersion is the version of the stored format.
const documentVersion = 1

// storedDocument is the stored format.
type storedDocument struct {
	Version      int                     `json:"version"`
	Acknowledged []storedAcknowledgement `json:"acknowledged"`
	// Extra is the data of [Manager.SetExtra], if any.
	Extra json.RawMessage `json:"extra,omitempty"`
}

type storedAcknowledgement struct {
	ID     string `json:"id"`
	Undone bool   `json:"undone,omitempty"`
	// Last is the last time at which the alert was open, or zero.
	Last time.Time `json:"last,omitzero"`
	Acknowledgement
}

// Extra is additional data that is stored with the acknowledgements.
type Extra interface {
	// Revision returns the number of changes since the start.
	Revision() uint64
	// Export returns the data as JSON.
	Export() (json.RawMessage, error)
	// Import adds stored data of any instance.
	Import(data json.RawMessage)
}

// SetExtra sets additional data to store. It must be called before all other methods.
func (b *Manager) SetExtra(extra Extra) { b.extra = extra }

// Revision returns the number of changes since the start. Unchanged data are not stored.
func (b *Manager) Revision() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.extra != nil {
		return b.acknowledgements.revision + b.extra.Revision()
	}
	return b.acknowledgements.revision
}

// Export returns all acknowledgements for [Manager.Import].
func (b *Manager) Export() ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := storedDocument{Version: documentVersion, Acknowledged: []storedAcknowledgement{}}
	for id, k := range b.acknowledgements.byID {
		d.Acknowledged = append(d.Acknowledged, storedAcknowledgement{id, k.isWithdrawn, k.lastOpen.UTC(), k.Acknowledgement})
	}
	slices.SortFunc(d.Acknowledged, func(x, y storedAcknowledgement) int { return strings.Compare(x.ID, y.ID) })
	if b.extra != nil {
		var err error
		if d.Extra, err = b.extra.Export(); err != nil {
			return nil, err
		}
	}
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false)
	err := enc.Encode(d)
	return data.Bytes(), err
}

// Import adds acknowledgements that are newer than the known ones. They come from before a
// restart or from another instance.
func (b *Manager) Import(data []byte) error {
	var d storedDocument
	if err := json.Unmarshal(data, &d); err != nil {
		return fmt.Errorf("no acknowledgements: %w", err)
	}
	if d.Version != documentVersion || len(d.Acknowledged) > maxAcknowledgements {
		return fmt.Errorf("invalid version %d or number of acknowledgements %d", d.Version, len(d.Acknowledged))
	}
	for _, s := range d.Acknowledged {
		kind, _, _ := strings.Cut(s.ID, "-")
		if !slices.Contains(allKinds(), Kind(kind)) || len(s.ID) > 60 || s.Time.IsZero() {
			return fmt.Errorf("invalid acknowledgement of %.60q at %v", s.ID, s.Time)
		}
	}
	if b.extra != nil && d.Extra != nil {
		b.extra.Import(d.Extra)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	for _, s := range d.Acknowledged {
		s.User, s.Note = truncate(s.User, maxUserBytes), truncate(s.Note, maxNoteBytes)
		if s.Time.After(now) {
			s.Time = now.UTC() // bounds times of a wrong clock
		}
		last := s.Last
		if last.IsZero() || last.After(now) {
			last = now
		}
		if now.Sub(last) >= acknowledgementRetention {
			continue // expired, but not yet removed by its writer
		}
		if b.acknowledgements.set(s.ID, acknowledgementState{s.Acknowledgement, s.Undone, last, last}) {
			b.acknowledgements.revision++
		}
	}
	return nil
}

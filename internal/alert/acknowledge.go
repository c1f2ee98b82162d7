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
	maxNote  = 500 // maximum length of a note in bytes
	maxUser  = 200 // maximum length of a user name in bytes
	maxKnown = 500
	// forgetAfter is the time after the end of an alert for which its acknowledgement stays
	// valid.
	forgetAfter = 24 * time.Hour
	// lastInterval is the interval at which other instances learn that an alert is still
	// open.
	lastInterval = 6 * time.Hour
)

// ErrUnknown is the error for an alert that does not exist or has ended.
var ErrUnknown = errors.New("no such alert is open")

// acknowledgements are the acknowledgements by alert ID. Withdrawn ones stay for forgetAfter,
// so that other instances learn of them.
type acknowledgements struct {
	known    map[string]*acknowledged
	revision uint64 // number of changes on this instance
}

type acknowledged struct {
	Acknowledgement
	undone bool
	last   time.Time // last time at which the alert was open
	told   time.Time // value of last that other instances know
}

// of returns the acknowledgement of an alert.
func (a *acknowledgements) of(id string) (Acknowledgement, bool) {
	if k := a.known[id]; k != nil && !k.undone {
		return k.Acknowledgement, true
	}
	return Acknowledgement{}, false
}

// set stores an acknowledgement that is newer than the stored one.
func (a *acknowledgements) set(id string, k acknowledged) bool {
	before := a.known[id]
	if before != nil && !k.At.After(before.At) || before == nil && len(a.known) >= maxKnown {
		return false
	}
	if a.known == nil {
		a.known = make(map[string]*acknowledged)
	}
	a.known[id] = &k
	return true
}

// prune removes acknowledgements of alerts that ended long ago. so contains the current
// alerts.
func (a *acknowledgements) prune(now time.Time, so map[string]bool) {
	for id, k := range a.known {
		if so[id] {
			if now.Sub(k.told) >= lastInterval {
				k.told = now
				a.revision++
			}
			k.last = now
		} else if now.Sub(k.last) >= forgetAfter {
			delete(a.known, id)
			a.revision++
		}
	}
}

// Acknowledge marks an alert as known to the owner. by is the user, or "" without a login.
// The error is [ErrUnknown] if the alert is not open.
func (b *Book) Acknowledge(id, by, note string) (Alert, error) {
	return b.decide(id, acknowledged{Acknowledgement: Acknowledgement{By: cut(by, maxUser), Note: cut(note, maxNote)}})
}

// Reopen withdraws an acknowledgement. The error is [ErrUnknown] if the alert is not open.
func (b *Book) Reopen(id string) (Alert, error) { return b.decide(id, acknowledged{undone: true}) }

func (b *Book) decide(id string, k acknowledged) (Alert, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.entries[id]
	if e == nil || !e.shown || e.State == Over {
		return Alert{}, fmt.Errorf("%.60q: %w", id, ErrUnknown)
	}
	now := b.now().UTC()
	k.At, k.last, k.told = now, now, now
	if before := b.acks.known[id]; before != nil && !now.After(before.At) {
		k.At = before.At.Add(time.Nanosecond) // the resolution of the clock is too coarse
	}
	if !b.acks.set(id, k) {
		return Alert{}, fmt.Errorf("%d alerts are acknowledged, which is as many as can be", maxKnown)
	}
	b.acks.revision++
	return b.alertOf(e), nil
}

func cut(s string, most int) string { return text.Cut(text.Printable(strings.TrimSpace(s)), most) }

// documentVersion is the version of the stored format.
const documentVersion = 1

// document is the stored format.
type document struct {
	Version      int      `json:"version"`
	Acknowledged []stored `json:"acknowledged"`
	// Extra is the data of [Book.SetExtra], if any.
	Extra json.RawMessage `json:"extra,omitempty"`
}

type stored struct {
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
func (b *Book) SetExtra(other Extra) { b.extra = other }

// Revision returns the number of changes since the start. Unchanged data are not stored.
func (b *Book) Revision() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.extra != nil {
		return b.acks.revision + b.extra.Revision()
	}
	return b.acks.revision
}

// Export returns all acknowledgements for [Book.Import].
func (b *Book) Export() ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := document{Version: documentVersion, Acknowledged: []stored{}}
	for id, k := range b.acks.known {
		d.Acknowledged = append(d.Acknowledged, stored{id, k.undone, k.last.UTC(), k.Acknowledgement})
	}
	slices.SortFunc(d.Acknowledged, func(x, y stored) int { return strings.Compare(x.ID, y.ID) })
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
func (b *Book) Import(data []byte) error {
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		return fmt.Errorf("no acknowledgements: %w", err)
	}
	if d.Version != documentVersion || len(d.Acknowledged) > maxKnown {
		return fmt.Errorf("version %d with %d acknowledgements cannot be", d.Version, len(d.Acknowledged))
	}
	for _, s := range d.Acknowledged {
		kind, _, _ := strings.Cut(s.ID, "-")
		if !slices.Contains(kinds(), Kind(kind)) || len(s.ID) > 60 || s.At.IsZero() {
			return fmt.Errorf("an acknowledgement of %.60q at %v cannot be", s.ID, s.At)
		}
	}
	if b.extra != nil && d.Extra != nil {
		b.extra.Import(d.Extra)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	for _, s := range d.Acknowledged {
		s.By, s.Note = cut(s.By, maxUser), cut(s.Note, maxNote)
		if s.At.After(now) {
			s.At = now.UTC() // bounds times of a wrong clock
		}
		last := s.Last
		if last.IsZero() || last.After(now) {
			last = now
		}
		if now.Sub(last) >= forgetAfter {
			continue // expired, but not yet removed by its writer
		}
		if b.acks.set(s.ID, acknowledged{s.Acknowledgement, s.Undone, last, last}) {
			b.acks.revision++
		}
	}
	return nil
}

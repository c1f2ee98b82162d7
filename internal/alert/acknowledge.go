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
	maxNote  = 500 // bytes of a note
	maxUser  = 200 // bytes of the name of a user
	maxKnown = 500
	// forgetAfter is how long after its end an alert that comes back is another
	// thing, and so not acknowledged.
	forgetAfter = 24 * time.Hour
	// lastInterval is how exactly others know when there was such an alert last.
	lastInterval = 6 * time.Hour
)

// ErrUnknown is the error for an alert that is not there, or is over.
var ErrUnknown = errors.New("no such alert is open")

// acknowledgements are what the owner knows, by ID. What was taken back is kept
// for as long, so that other instances learn of it.
type acknowledgements struct {
	known    map[string]*acknowledged
	revision uint64 // how often they have changed here
}

type acknowledged struct {
	Acknowledgement
	undone bool
	last   time.Time // when there was such an alert last
	told   time.Time // the last that others may know
}

// of returns the acknowledgement of an alert.
func (a *acknowledgements) of(id string) (Acknowledgement, bool) {
	if k := a.known[id]; k != nil && !k.undone {
		return k.Acknowledgement, true
	}
	return Acknowledgement{}, false
}

// set takes note of an acknowledgement, if it is later than what is known.
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

// prune forgets those of alerts that have been over for long.
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

// Acknowledge makes an alert quiet, for a user, "" if nobody logs in, and returns
// it. The error is [ErrUnknown] if there is no such alert now.
func (b *Book) Acknowledge(id, by, note string) (Alert, error) {
	return b.decide(id, acknowledged{Acknowledgement: Acknowledgement{By: cut(by, maxUser), Note: cut(note, maxNote)}})
}

// Reopen takes an acknowledgement back, as if it had never been, and returns the
// alert. The error is [ErrUnknown] if there is no such alert now.
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
		k.At = before.At.Add(time.Nanosecond) // within the grain of the clock
	}
	if !b.acks.set(id, k) {
		return Alert{}, fmt.Errorf("%d alerts are acknowledged, which is as many as can be", maxKnown)
	}
	b.acks.revision++
	return b.alertOf(e), nil
}

func cut(s string, most int) string { return text.Cut(text.Printable(strings.TrimSpace(s)), most) }

// documentVersion is that of the form in which acknowledgements are stored.
const documentVersion = 1

// document is what is stored.
type document struct {
	Version      int      `json:"version"`
	Acknowledged []stored `json:"acknowledged"`
	// Beside is that of [Book.KeepBeside], absent if there is none.
	Beside json.RawMessage `json:"beside,omitempty"`
}

type stored struct {
	ID     string `json:"id"`
	Undone bool   `json:"undone,omitempty"`
	// Last is when there was such an alert last; zero if an earlier version of this
	// product wrote it.
	Last time.Time `json:"last,omitzero"`
	Acknowledgement
}

// Beside is something that is stored with the acknowledgements.
type Beside interface {
	// Revision tells how often it has changed since the start.
	Revision() uint64
	// Export returns it as JSON, for Import.
	Export() (json.RawMessage, error)
	// Import takes over what was stored, by whatever instance.
	Import(data json.RawMessage)
}

// KeepBeside has something stored with the acknowledgements. It is to be called before
// anything else.
func (b *Book) KeepBeside(other Beside) { b.beside = other }

// Revision tells how often what is stored has changed since the start: what has not
// changed is not stored.
func (b *Book) Revision() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.beside != nil {
		return b.acks.revision + b.beside.Revision()
	}
	return b.acks.revision
}

// Export returns all acknowledgements as bytes, for [Book.Import].
func (b *Book) Export() ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := document{Version: documentVersion, Acknowledged: []stored{}}
	for id, k := range b.acks.known {
		d.Acknowledged = append(d.Acknowledged, stored{id, k.undone, k.last.UTC(), k.Acknowledgement})
	}
	slices.SortFunc(d.Acknowledged, func(x, y stored) int { return strings.Compare(x.ID, y.ID) })
	if b.beside != nil {
		var err error
		if d.Beside, err = b.beside.Export(); err != nil {
			return nil, err
		}
	}
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false)
	err := enc.Encode(d)
	return data.Bytes(), err
}

// Import takes acknowledgements over that are later than what is known, from before
// a restart or from another instance.
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
	if b.beside != nil && d.Beside != nil {
		b.beside.Import(d.Beside)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	for _, s := range d.Acknowledged {
		s.By, s.Note = cut(s.By, maxUser), cut(s.Note, maxNote)
		if s.At.After(now) {
			s.At = now.UTC() // of a clock that is wrong: it must not hold for ever
		}
		last := s.Last
		if last.IsZero() || last.After(now) {
			last = now
		}
		if now.Sub(last) >= forgetAfter {
			continue // who wrote that has yet to forget it
		}
		if b.acks.set(s.ID, acknowledged{s.Acknowledgement, s.Undone, last, last}) {
			b.acks.revision++
		}
	}
	return nil
}

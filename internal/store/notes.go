package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

// The names of the notes.
const (
	alertsName = "acknowledged" + suffixJSON // acknowledgements of alerts
	rangesName = "ranges" + suffixJSON       // fetched address lists of crawlers
	ratesName  = "rates" + suffixJSON        // recent requests by crawler
)

var noteNames = [...]string{alertsName, rangesName, ratesName}

const (
	// maxNote is the maximum size of a note in bytes.
	maxNote = 1 << 20
	// deadAfter is the age at which rates of any instance are removed. Rates are useful for one
	// minute.
	deadAfter = 25 * time.Hour
)

// note is a value that contains a whole part of the memory.
type note struct {
	name   string
	wait   time.Duration // minimum time between two writes
	at     func() revision
	export func() ([]byte, error) // returns nil data if there is nothing to store
	take   func(v value) error
}

// notes stores the small parts of the memory, each as one value.
type notes struct {
	store *Store
	tracker
	all []note
}

func newNotes(s *Store) *notes {
	alerts, ranges := s.memory.parts.Acknowledgements, s.memory.parts.Lists
	return &notes{store: s, all: []note{
		{alertsName, 0, func() revision { return revision{urgent: alerts.Revision()} }, alerts.Export, func(v value) error { return alerts.Import(v.data) }},
		{rangesName, noteInterval, func() revision { return revision{other: ranges.Fetched()} }, ranges.Export, func(v value) error { return ranges.Import(v.data) }},
		{ratesName, syncInterval, s.ratesRevision, func() ([]byte, error) { return s.memory.parts.Rates.Export(s.now()) }, s.takeRates},
	}}
}

// due skips notes that never changed. The last call of a configuration skips the rates, which only
// peers use, and ignores waits.
func (n *notes) due(_ context.Context, last bool) iter.Seq[pending] {
	return func(yield func(pending) bool) {
		for _, note := range n.all {
			at := note.at()
			if at == (revision{}) || last && note.name == ratesName {
				continue
			}
			p, ok := n.tracker.due(change{
				name: note.name, about: zap.Skip(), at: at, wait: unlessLast(last, note.wait),
				encode: func() (d ledger.Document, empty bool, err error) {
					d.Saved = n.store.now()
					if d.Data, err = note.export(); err == nil && len(d.Data) > maxNote {
						err = fmt.Errorf("%s has %d bytes, more than the %d that are stored", note.name, len(d.Data), maxNote)
					}
					d.Sum = sha256.Sum256(d.Data)
					return d, d.Data == nil, err
				},
			}, n.store.now())
			if ok && !yield(p) {
				return
			}
		}
	}
}

func (n *notes) take(v value, _ *summary) error {
	if v.old {
		return errExpired
	}
	for _, note := range n.all {
		if note.name != v.key.name {
			continue
		}
		if err := note.take(v); err != nil {
			return err
		}
		if v.own {
			n.set(note.name, tracked{sum: sha256.Sum256(v.data), saved: v.modified})
		}
		return nil
	}
	return fmt.Errorf("%s is an unknown note", v.key.name)
}

// ratesRevision returns a new revision at each call if other instances run. A single instance does
// not store rates.
func (s *Store) ratesRevision() revision {
	now := s.now()
	others := len(s.peers.active(now)) > 0
	s.memory.parts.Rates.Share(now, others)
	if !others {
		return revision{}
	}
	return revision{other: uint64(now.UnixNano())}
}

// takeRates imports the rates of another instance.
func (s *Store) takeRates(v value) error {
	now := s.now()
	switch {
	case !v.modified.IsZero() && now.Sub(v.modified) > deadAfter:
		return errExpired
	case v.own:
		return nil
	}
	return s.memory.parts.Rates.Import(v.key.instance, v.data, now)
}

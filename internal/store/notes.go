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
	sentName   = "sent" + suffixJSON         // alerts that receivers were sent
	ratesName  = "rates" + suffixJSON        // recent requests by crawler
)

var noteNames = [...]string{alertsName, sentName, rangesName, ratesName}

const (
	// maxNote is the maximum size of a note in bytes.
	maxNote = 1 << 20
	// maxRatesAge is the age at which rates of any instance are removed. Rates are useful for one
	// minute.
	maxRatesAge = 25 * time.Hour
)

// note is a value that contains a whole part of the memory.
type note struct {
	name     string
	wait     time.Duration // minimum time between two writes
	revision func() revision
	export   func() ([]byte, error) // returns nil data if there is nothing to store
	restore  func(v value) error
}

// noteValues stores the small parts of the memory, each as one value.
type noteValues struct {
	store *Store
	tracker
	notes []note
}

func newNoteValues(s *Store) *noteValues {
	alerts, sent, ranges := s.memory.parts.Acknowledgements, s.memory.parts.SentAlerts, s.memory.parts.AddressLists
	restoreSent := func(v value) error {
		if !v.isOwn {
			return nil // each instance sends its own alerts
		}
		return sent.Import(v.data)
	}
	return &noteValues{store: s, notes: []note{
		{alertsName, 0, func() revision { return revision{urgent: alerts.Revision()} }, alerts.Export, func(v value) error { return alerts.Import(v.data) }},
		{sentName, 0, func() revision { return revision{urgent: sent.Revision()} }, sent.Export, restoreSent},
		{rangesName, minWriteInterval, func() revision { return revision{other: ranges.FetchCount()} }, ranges.Export, func(v value) error { return ranges.Import(v.data) }},
		{ratesName, syncInterval, s.ratesRevision, func() ([]byte, error) { return s.memory.parts.Rates.Export(s.now()) }, s.restoreRates},
	}}
}

// pendingWrites skips notes that never changed. The last call of a configuration skips the rates, which only
// peers use, and ignores waits.
func (n *noteValues) pendingWrites(_ context.Context, last bool) iter.Seq[pendingWrite] {
	return func(yield func(pendingWrite) bool) {
		for _, note := range n.notes {
			current := note.revision()
			if current == (revision{}) || last && note.name == ratesName {
				continue
			}
			write, ok := n.tracker.pendingWrite(valueChange{
				name: note.name, logField: zap.Skip(), revision: current, minInterval: zeroIfLast(last, note.wait),
				encode: func() (d ledger.Document, empty bool, err error) {
					d.Saved = n.store.now()
					if d.Data, err = note.export(); err == nil && len(d.Data) > maxNote {
						err = fmt.Errorf("%s has %d bytes, more than the %d that are stored", note.name, len(d.Data), maxNote)
					}
					d.Sum = sha256.Sum256(d.Data)
					return d, d.Data == nil, err
				},
			}, n.store.now())
			if ok && !yield(write) {
				return
			}
		}
	}
}

func (n *noteValues) restoreValue(v value, _ *readSummary) error {
	if v.unrefreshed {
		return errExpired
	}
	for _, note := range n.notes {
		if note.name != v.key.name {
			continue
		}
		if err := note.restore(v); err != nil {
			return err
		}
		if v.isOwn {
			n.set(note.name, writtenValue{hash: sha256.Sum256(v.data), saved: v.modified})
		}
		return nil
	}
	return fmt.Errorf("%s is an unknown note", v.key.name)
}

// ratesRevision returns a new revision at each call if other instances run. A single instance does
// not store rates.
func (s *Store) ratesRevision() revision {
	now := s.now()
	hasPeers := len(s.peers.activePeers(now)) > 0
	s.memory.parts.Rates.Share(now, hasPeers)
	if !hasPeers {
		return revision{}
	}
	return revision{other: uint64(now.UnixNano())}
}

// restoreRates imports the rates of another instance.
func (s *Store) restoreRates(v value) error {
	now := s.now()
	switch {
	case !v.modified.IsZero() && now.Sub(v.modified) > maxRatesAge:
		return errExpired
	case v.isOwn:
		return nil
	}
	return s.memory.parts.Rates.Import(v.key.instance, v.data, now)
}

package store

import (
	"crypto/sha256"
	"fmt"
	"iter"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

// The names of the notes.
const (
	alertsName = "acknowledged" + suffixJSON // alertsName is for acknowledgements of alerts.
	rangesName = "ranges" + suffixJSON       // rangesName is for fetched address lists of crawlers.
	sentName   = "sent" + suffixJSON         // sentName is for alerts that receivers were sent.
	ratesName  = "rates" + suffixJSON        // ratesName is for recent requests by crawler.
)

var noteNames = [...]string{alertsName, sentName, rangesName, ratesName}

const (
	// minWriteInterval is the minimum time between two writes of the address lists of crawlers.
	minWriteInterval = 10 * time.Second
	// maxNote is the maximum size of a note in bytes.
	maxNote = 1 << 20
	// maxRatesAge is the age at which rates of any instance are removed. Rates are useful for one
	// minute.
	maxRatesAge = 25 * time.Hour
)

// note is a small part of the memory that is stored as a single value.
type note struct {
	name     string
	wait     time.Duration // wait is the minimum time between two writes.
	revision func() revision
	export   func() ([]byte, error) // export returns nil data if there is nothing to store.
	restore  func(v value) error
}

// newNoteValues returns the values of the kind "notes": one for each small part of the memory.
func (s *Store) newNoteValues() *trackedValues {
	parts := s.memory.parts
	restoreSent := func(v value) error {
		if !v.isOwn {
			return nil // Each instance sends its own alerts.
		}
		return parts.SentAlerts.Import(v.data)
	}
	notes := []note{
		{alertsName, 0, func() revision { return revision{urgent: parts.Acknowledgements.Revision()} }, parts.Acknowledgements.Export, func(v value) error { return parts.Acknowledgements.Import(v.data) }},
		{sentName, 0, func() revision { return revision{urgent: parts.SentAlerts.Revision()} }, parts.SentAlerts.Export, restoreSent},
		{rangesName, minWriteInterval, func() revision { return revision{other: parts.AddressLists.FetchCount()} }, parts.AddressLists.ExportLists, func(v value) error { return parts.AddressLists.ImportLists(v.data) }},
		{ratesName, syncInterval, s.ratesRevision, func() ([]byte, error) { return s.memory.parts.Rates.Export(s.now()) }, s.restoreRates},
	}
	return &trackedValues{
		store: s,
		// The function skips notes that never changed. The last call skips the rates, which only peers
		// use.
		changes: func(last bool) iter.Seq[valueChange] {
			return func(yield func(valueChange) bool) {
				for _, note := range notes {
					current := note.revision()
					if current == (revision{}) || last && note.name == ratesName {
						continue
					}
					change := valueChange{name: note.name, logField: zap.Skip(), revision: current, minInterval: note.wait, encode: func() (ledger.StoredDocument, bool, error) { return note.encode(s.now()) }}
					if !yield(change) {
						return
					}
				}
			}
		},
		restore: func(v value, _ *readSummary) (writtenValue, error) {
			if v.isExpired {
				return writtenValue{}, errExpired
			}
			i := slices.IndexFunc(notes, func(n note) bool { return n.name == v.key.name })
			if i < 0 {
				return writtenValue{}, fmt.Errorf("%s is an unknown note", v.key.name)
			}
			return writtenValue{hash: sha256.Sum256(v.data), saved: v.modified}, notes[i].restore(v)
		},
	}
}

// encode returns the encoded note. empty is true if there is nothing to store.
func (n *note) encode(now time.Time) (d ledger.StoredDocument, empty bool, err error) {
	d.Saved = now
	if d.Data, err = n.export(); err == nil && len(d.Data) > maxNote {
		err = fmt.Errorf("%s has %d bytes, but at most %d bytes can be stored", n.name, len(d.Data), maxNote)
	}
	d.Checksum = sha256.Sum256(d.Data)
	return d, d.Data == nil, err
}

// ratesRevision returns a new revision at each call if other instances are active. Otherwise it
// returns the zero revision, because a single instance does not store rates.
func (s *Store) ratesRevision() revision {
	now := s.now()
	hasPeers := s.peers.hasActivePeer(now)
	s.memory.parts.Rates.SetSharing(now, hasPeers)
	if !hasPeers {
		return revision{}
	}
	return revision{other: uint64(now.UnixNano())}
}

// restoreRates imports the rates of another instance. restoreRates ignores the rates that this
// instance has written.
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

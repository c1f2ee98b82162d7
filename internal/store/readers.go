package store

import (
	"context"
	"iter"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

// noteInterval is the time between two writes of the same note.
const noteInterval = 10 * time.Second

// readers is who has read which version, in parts.
type readers struct {
	store *Store
	tracker
}

func (*readers) name() string { return kindReaders }
func (*readers) max() int64   { return ledger.MaxDocument }
func (*readers) most() int    { return ledger.ReaderParts }

// readersNames are those of the parts.
var readersNames = func() (names [ledger.ReaderParts]string) {
	for part := range names {
		names[part] = strconv.Itoa(part) + suffixJSON
	}
	return names
}()

func readersName(part int) string { return readersNames[part] }

func (r *readers) due(_ context.Context, last bool) iter.Seq[pending] {
	known, now := r.store.memory.parts.Readers, r.store.now()
	return func(yield func(pending) bool) {
		for part := range ledger.ReaderParts {
			p, ok := r.tracker.due(change{
				name: readersName(part), about: zap.Skip(),
				at: revision{other: known.Noted(part)}, wait: unlessLast(last, noteInterval),
				encode: func() (ledger.Document, bool, error) { return known.EncodePart(part, r.store.now()) },
			}, now)
			if ok && !yield(p) {
				return
			}
		}
	}
}

func (r *readers) take(v value, _ *summary) error {
	all, d, err := ledger.DecodeReaders(v.data)
	switch {
	case err != nil:
		return err
	case r.store.isExpired(d.Saved):
		return errExpired
	}
	parts, now := r.store.memory.parts, r.store.now()
	if !v.own {
		correctReadings(all, r.store.peers.noteClock(v.key, d.Saved, now))
	}
	parts.Readers.Merge(all, !v.own, now)
	if v.own {
		r.set(v.key.name, tracked{sum: d.Sum, saved: d.Saved})
	}
	return nil
}

// unlessLast returns how long to wait with a write, which is not at all if it is
// the last one.
func unlessLast(last bool, wait time.Duration) time.Duration {
	if last {
		return 0
	}
	return wait
}

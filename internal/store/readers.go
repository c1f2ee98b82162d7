package store

import (
	"context"
	"iter"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

// noteInterval is the time between two writes of the same value.
const noteInterval = 10 * time.Second

// readers stores the last robots fetches of crawlers in [ledger.ReaderParts] values.
type readers struct {
	store *Store
	tracker
}

func readersName(part int) string { return strconv.Itoa(part) + suffixJSON }

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
	r.store.memory.parts.Readers.Merge(all, !v.own, r.store.now())
	if v.own {
		r.set(v.key.name, tracked{sum: d.Sum, saved: d.Saved})
	}
	return nil
}

// unlessLast returns wait, or zero at the last write.
func unlessLast(last bool, wait time.Duration) time.Duration {
	if last {
		return 0
	}
	return wait
}

package store

import (
	"context"
	"iter"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

// minWriteInterval is the time between two writes of the same value.
const minWriteInterval = 10 * time.Second

// robotsFetchValues stores the last robots fetches of crawlers in [ledger.RobotsFetchParts] values.
type robotsFetchValues struct {
	store *Store
	tracker
}

func robotsFetchName(part int) string { return strconv.Itoa(part) + suffixJSON }

func (r *robotsFetchValues) pendingWrites(_ context.Context, last bool) iter.Seq[pendingWrite] {
	known, now := r.store.memory.parts.Readers, r.store.now()
	return func(yield func(pendingWrite) bool) {
		for part := range ledger.RobotsFetchParts {
			write, ok := r.tracker.pendingWrite(valueChange{
				name: robotsFetchName(part), logField: zap.Skip(),
				revision: revision{other: known.PartRevision(part)}, minInterval: zeroIfLast(last, minWriteInterval),
				encode: func() (ledger.Document, bool, error) { return known.EncodePart(part, r.store.now()) },
			}, now)
			if ok && !yield(write) {
				return
			}
		}
	}
}

func (r *robotsFetchValues) restoreValue(v value, _ *readSummary) error {
	all, d, err := ledger.DecodeRobotsFetches(v.data)
	switch {
	case err != nil:
		return err
	case r.store.isExpired(d.Saved):
		return errExpired
	}
	r.store.memory.parts.Readers.Merge(all, !v.isOwn, r.store.now())
	if v.isOwn {
		r.set(v.key.name, writtenValue{hash: d.Sum, saved: d.Saved})
	}
	return nil
}

// zeroIfLast returns wait, or zero at the last write.
func zeroIfLast(last bool, wait time.Duration) time.Duration {
	if last {
		return 0
	}
	return wait
}

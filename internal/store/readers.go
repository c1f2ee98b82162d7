package store

import (
	"iter"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

// minWriteInterval is the time between two writes of the same value.
const minWriteInterval = 10 * time.Second

// robotsFetchValues stores the last robots fetches of crawlers in [ledger.RobotsFetchParts] values.
func (s *Store) robotsFetchValues() *trackedValues {
	return &trackedValues{store: s, changes: s.robotsFetchChanges, restore: s.restoreRobotsFetches}
}

func robotsFetchName(part int) string { return strconv.Itoa(part) + suffixJSON }

func (s *Store) robotsFetchChanges(bool) iter.Seq[valueChange] {
	known := s.memory.parts.Readers
	return func(yield func(valueChange) bool) {
		for part := range ledger.RobotsFetchParts {
			change := valueChange{
				name: robotsFetchName(part), logField: zap.Skip(),
				revision: revision{other: known.PartRevision(part)}, minInterval: minWriteInterval,
				encode: func() (ledger.Document, bool, error) { return known.EncodePart(part, s.now()) },
			}
			if !yield(change) {
				return
			}
		}
	}
}

func (s *Store) restoreRobotsFetches(v value, _ *readSummary) (writtenValue, error) {
	all, d, err := ledger.DecodeRobotsFetches(v.data)
	switch {
	case err != nil:
		return writtenValue{}, err
	case s.isExpired(d.Saved):
		return writtenValue{}, errExpired
	}
	s.memory.parts.Readers.Merge(all, !v.isOwn, s.now())
	return writtenValue{hash: d.Sum, saved: d.Saved}, nil
}

package store

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/copies"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// The names of the kinds of values, which are also the directories of an instance.
const (
	kindPolicies = "policies"
	kindCopies   = "copies"
	kindReaders  = "readers"
	kindChanges  = "changes"
	kindNotes    = "notes"
	kindLedger   = "ledger"
)

var kindNames = [...]string{kindPolicies, kindCopies, kindReaders, kindChanges, kindNotes, kindLedger}

// Kinds returns the names of the kinds of values.
func Kinds() []string { return slices.Clone(kindNames[:]) }

// kind is a row of the table of kinds.
type kind struct {
	name   string // also its directory
	prefix string // of the names of its values, if two rows share a directory
	max    int64  // bytes of a value
	most   int    // values of an instance that are read
	// follows reports whether the values of peers are read every [syncInterval]. The values of
	// other kinds are read once a day.
	follows bool
	// after reports whether values are written only after the stored values of this instance
	// were read.
	after bool
	values
}

// values encodes and decodes the values of a kind.
type values interface {
	// due returns the values to write now. At the last call of a configuration it returns every
	// value with unsaved changes.
	due(ctx context.Context, last bool) iter.Seq[pending]
	// take restores a value into memory. It returns nil, errExpired, errIncomplete, or why the
	// value is invalid. It may be called concurrently.
	take(v value, found *summary) error
}

// Errors of take about a value that is not damaged.
var (
	errExpired    = errors.New("the value was not refreshed for 31 days")
	errIncomplete = errors.New("the value has to be read again later")
)

// value is a value that was read from the storage.
type value struct {
	key      key
	own      bool // written by this instance
	data     []byte
	modified time.Time // zero if the storage does not know
	old      bool      // not refreshed for [maxUnrefreshed], by modified
}

// pending is a value to write.
type pending struct {
	name   string
	about  zap.Field              // for the log
	encode func() ([]byte, error) // returns nil data if nothing is left to write
	stored func()                 // is called after a successful write
}

// table returns the kinds of a store, in the order in which they are read: a change that is held
// back refers to a version, so policies come first.
func (s *Store) table(retention time.Duration) []kind {
	parts := s.memory.parts
	s.bases = newPolicies(s, basePrefix, parts.Bases)
	bases := kind{name: kindPolicies, prefix: basePrefix, max: policy.MaxSnapshot, most: math.MaxInt, values: s.bases}
	if s.onlyBases {
		return []kind{bases}
	}
	s.policies = newPolicies(s, "", parts.Policies)
	s.counts = &counts{store: s, retention: retention}
	return []kind{
		{name: kindPolicies, max: policy.MaxSnapshot, most: math.MaxInt, values: s.policies}, // see maxPoliciesFor
		bases,
		{name: kindCopies, max: copies.MaxDocument, most: maxCopies, follows: true, after: true, values: &copiesKind{store: s}},
		{name: kindReaders, max: ledger.MaxDocument, most: ledger.ReaderParts, follows: true, after: true, values: &readers{store: s}},
		{name: kindChanges, max: ledger.MaxDocument, most: maxChanges, follows: true, after: true, values: &changes{store: s}},
		{name: kindNotes, max: maxNote, most: len(noteNames), follows: true, after: true, values: newNotes(s)},
	}
}

// has reports whether a key is of the kind.
func (k *kind) has(key key) bool {
	return key.kind == k.name && strings.HasPrefix(key.name, basePrefix) == (k.prefix == basePrefix)
}

// kindOf returns the kind of a key, nil for an unknown one.
func (s *Store) kindOf(k key) *kind {
	for i := range s.kinds {
		if s.kinds[i].has(k) {
			return &s.kinds[i]
		}
	}
	if k.kind == kindLedger && s.counts != nil {
		return &s.ledger
	}
	return nil
}

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

// The names of the kinds of values, and of their directories.
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
	name   string // also the directory
	prefix string // of value names, if two rows share a directory
	max    int64  // bytes of a value
	most   int    // maximum number of values to read per instance
	// follows means that the values of peers are read every [syncInterval]. Other kinds are read once
	// a day.
	follows bool
	// after means that writing starts only after the stored values of this instance were read.
	after bool
	values
}

// values encodes and decodes the values of a kind.
type values interface {
	// due returns the values to write now. The last call of a configuration returns every value with
	// unsaved changes.
	due(ctx context.Context, last bool) iter.Seq[pending]
	// take restores a value into memory. It returns nil, errExpired, errIncomplete, or the reason why
	// the value is invalid. Concurrent calls are allowed.
	take(v value, found *summary) error
}

// Errors of take for a value that is not damaged.
var (
	errExpired    = errors.New("the value was not refreshed for 31 days")
	errIncomplete = errors.New("the value has to be read again later")
)

// value is a value that was read from the storage.
type value struct {
	key      key
	own      bool // written by this instance
	data     []byte
	modified time.Time // zero if unknown
	old      bool      // by modified, not refreshed for [maxUnrefreshed]
}

// pending is a value to write.
type pending struct {
	name   string
	about  zap.Field              // log field
	encode func() ([]byte, error) // returns nil data if nothing is left to write
	stored func()                 // called after a successful write
}

// table returns the kinds in reading order. Policies come first because a delayed change refers to a
// policy version.
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

// kindOf returns the kind of a key, or nil.
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

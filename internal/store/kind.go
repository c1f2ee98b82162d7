package store

import (
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
	kindChanges  = "changes"
	kindNotes    = "notes"
	kindLedger   = "ledger"
)

var kindNames = [...]string{kindPolicies, kindCopies, kindChanges, kindNotes, kindLedger}

// Kinds returns the names of the kinds of values.
func Kinds() []string { return slices.Clone(kindNames[:]) }

// kind is a row of the table of kinds.
type kind struct {
	name           string // also the directory
	prefix         string // of value names, if two rows share a directory
	maxBytes       int64  // bytes of a value
	maxPerInstance int    // maximum number of values to read per instance
	// syncsPeers makes a store read the values of peers every [syncInterval]. Other kinds are read
	// once a day.
	syncsPeers bool
	// needsReadFirst delays writing until the stored values of this instance were read.
	needsReadFirst bool
	valueKind
}

// valueKind encodes and decodes the values of a kind.
type valueKind interface {
	// pendingWrites returns the values to write now. The last call of a configuration returns every value with
	// unsaved changes.
	pendingWrites(last bool) iter.Seq[pendingWrite]
	// restoreValue restores a value into memory. The error is nil, errExpired, errIncomplete, or
	// the reason why the value is invalid. Concurrent calls are allowed.
	restoreValue(v value, summary *readSummary) error
}

// Errors of restoreValue for an undamaged value.
var (
	errExpired    = errors.New("the value was not refreshed for 31 days")
	errIncomplete = errors.New("the value has to be read again later")
)

// value is a value from the storage.
type value struct {
	key       key
	isOwn     bool // written by this instance
	data      []byte
	modified  time.Time // zero if unknown
	isExpired bool      // by modified, not refreshed for [maxValueAge]
}

// pendingWrite is a value to write.
type pendingWrite struct {
	name     string
	logField zap.Field              // log field
	encode   func() ([]byte, error) // returns nil data if nothing is left to write
	onStored func()                 // called after a successful write
}

// kindTable returns the kinds in reading order. Policies come first because a delayed change refers to a
// policy version.
func (s *Store) kindTable(retention time.Duration) []kind {
	parts := s.memory.parts
	s.bases = newPolicies(s, basePrefix, parts.Bases)
	bases := kind{name: kindPolicies, prefix: basePrefix, maxBytes: policy.MaxSnapshot, maxPerInstance: math.MaxInt, valueKind: s.bases}
	if s.onlyBases {
		return []kind{bases}
	}
	s.policies = newPolicies(s, "", parts.Policies)
	s.ledgerValues = newLedgerValues(s, retention)
	return []kind{
		{name: kindPolicies, maxBytes: policy.MaxSnapshot, maxPerInstance: math.MaxInt, valueKind: s.policies}, // see maxPolicyValues
		bases,
		{name: kindCopies, maxBytes: copies.MaxDocument, maxPerInstance: maxCopyHosts, syncsPeers: true, needsReadFirst: true, valueKind: s.copyValues()},
		{name: kindChanges, maxBytes: ledger.MaxDocument, maxPerInstance: maxChangeSites, syncsPeers: true, needsReadFirst: true, valueKind: s.changeValues()},
		{name: kindNotes, maxBytes: maxNote, maxPerInstance: len(noteNames), syncsPeers: true, needsReadFirst: true, valueKind: s.noteValues()},
	}
}

// contains reports whether a key is of the kind.
func (k *kind) contains(key key) bool {
	return key.kind == k.name && strings.HasPrefix(key.name, basePrefix) == (k.prefix == basePrefix)
}

// kindOf returns the kind of a key, or nil.
func (s *Store) kindOf(k key) *kind {
	for i := range s.kinds {
		if s.kinds[i].contains(k) {
			return &s.kinds[i]
		}
	}
	if k.kind == kindLedger && s.ledgerValues != nil {
		return &s.ledgerKind
	}
	return nil
}

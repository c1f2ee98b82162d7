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

// Kinds returns the names of the kinds of stored values, which are labels of metrics.
func Kinds() []string { return slices.Clone(kindNames[:]) }

// kind describes a kind of stored values: its directory, its limits, and how to encode and restore
// its values.
type kind struct {
	name           string // name is also the name of the directory.
	prefix         string // prefix begins the names of the values, if two rows share a directory.
	maxBytes       int64  // maxBytes is the maximum size of a value.
	maxPerInstance int    // maxPerInstance is the maximum number of values to read per instance.
	// syncsPeers means that the values of other instances are read every [syncInterval], and not
	// only once a day.
	syncsPeers bool
	// needsReadFirst means that values may be written only after the stored values of this instance
	// were read.
	needsReadFirst bool
	valueKind
}

// valueKind encodes and restores the values of a kind.
type valueKind interface {
	// pendingWrites returns the values that should be written now. In the last call before a
	// configuration ends, these are all values with unsaved changes.
	pendingWrites(last bool) iter.Seq[pendingWrite]
	// restoreValue restores a stored value into memory. The error is nil, errExpired,
	// errIncomplete, or the reason why the value is invalid. Concurrent calls are allowed.
	restoreValue(v value, summary *readSummary) error
}

// Errors of restoreValue for an undamaged value.
var (
	errExpired    = errors.New("the value was not refreshed for 31 days")
	errIncomplete = errors.New("the value has to be read again later")
)

// value is a value that was read from the storage.
type value struct {
	key       key
	isOwn     bool // isOwn is true if this instance has written the value.
	data      []byte
	modified  time.Time // modified is the modification time, or zero if it is unknown.
	isExpired bool      // isExpired is true if modified is older than [maxValueAge].
}

// pendingWrite is a value that should be written now.
type pendingWrite struct {
	name     string
	logField zap.Field              // logField is the field for log messages.
	encode   func() ([]byte, error) // encode returns nil data if nothing is left to write.
	onStored func()                 // onStored is called after a successful write.
}

// newKinds returns the kinds of the store in the order of reading. Policies come first, because a
// delayed change refers to a version of a policy.
func (s *Store) newKinds(retention time.Duration) []kind {
	parts := s.memory.parts
	s.bases = newPolicyValues(s, basePrefix, parts.Bases)
	bases := kind{name: kindPolicies, prefix: basePrefix, maxBytes: policy.MaxSnapshotSize, maxPerInstance: math.MaxInt, valueKind: s.bases}
	if s.onlyBases {
		return []kind{bases}
	}
	s.policies = newPolicyValues(s, "", parts.Policies)
	s.ledgerValues = newLedgerValues(s, retention)
	return []kind{
		// There is no limit per instance, because maxPolicyValues limits the values of all instances.
		{name: kindPolicies, maxBytes: policy.MaxSnapshotSize, maxPerInstance: math.MaxInt, valueKind: s.policies},
		bases,
		{name: kindCopies, maxBytes: copies.MaxDocument, maxPerInstance: maxCopyHosts, syncsPeers: true, needsReadFirst: true, valueKind: s.newCopyValues()},
		{name: kindChanges, maxBytes: ledger.MaxDocumentBytes, maxPerInstance: maxChangeSites, syncsPeers: true, needsReadFirst: true, valueKind: s.newChangeValues()},
		{name: kindNotes, maxBytes: maxNote, maxPerInstance: len(noteNames), syncsPeers: true, needsReadFirst: true, valueKind: s.newNoteValues()},
	}
}

// contains reports whether the value with this key is of the kind.
func (k *kind) contains(key key) bool {
	return key.kind == k.name && strings.HasPrefix(key.name, basePrefix) == (k.prefix == basePrefix)
}

// findKind returns the kind of the value with a key, or nil.
func (s *Store) findKind(k key) *kind {
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

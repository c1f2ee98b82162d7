package store

import (
	"crypto/sha256"
	"errors"
	"iter"
	"maps"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

// tracker records which values of a kind this instance has written, by name. The zero value has
// none.
type tracker struct {
	mu     sync.Mutex
	stored map[string]writtenValue
}

// writtenValue describes a value that this instance has written.
type writtenValue struct {
	hash     [sha256.Size]byte
	saved    time.Time
	revision revision
}

// revision identifies the state of a value's content. If urgent has changed, the value is written
// at the next check for unsaved changes, even within the value's minimum interval.
type revision struct{ urgent, other uint64 }

func (t *tracker) get(name string) writtenValue {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stored[name]
}

func (t *tracker) set(name string, value writtenValue) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stored == nil {
		t.stored = make(map[string]writtenValue)
	}
	t.stored[name] = value
}

// dropUnneeded drops the records of values that are not needed any more, if there are many.
func (t *tracker) dropUnneeded(needed map[string]bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.stored) > 2*len(needed)+100 {
		maps.DeleteFunc(t.stored, func(name string, _ writtenValue) bool { return !needed[name] })
	}
}

// trackedValues has the values of a kind that this instance writes, with a record of the written
// values. The functions changes and restore depend on the kind.
type trackedValues struct {
	store *Store
	tracker
	// changes returns the values that may have unsaved changes. last is true in the last call
	// before a configuration ends. The last call may omit values that only running peers use.
	changes func(last bool) iter.Seq[valueChange]
	// restore restores a stored value into memory, and describes the content. Its errors are those
	// of [valueKind].
	restore func(v value, summary *readSummary) (writtenValue, error)
}

func (t *trackedValues) pendingWrites(last bool) iter.Seq[pendingWrite] {
	return func(yield func(pendingWrite) bool) {
		names := make(map[string]bool)
		for change := range t.changes(last) {
			names[change.name] = true
			if last {
				change.minInterval = 0
			}
			if write, ok := t.newPendingWrite(change, t.store.now()); ok && !yield(write) {
				return
			}
		}
		t.dropUnneeded(names)
	}
}

func (t *trackedValues) restoreValue(v value, summary *readSummary) error {
	written, err := t.restore(v, summary)
	if v.isOwn && (err == nil || errors.Is(err, errIncomplete)) {
		t.set(v.key.name, written)
	}
	return err
}

// valueChange is a value that may have unsaved changes.
type valueChange struct {
	name        string
	logField    zap.Field
	revision    revision
	minInterval time.Duration // minInterval is the minimum time since the last write.
	encode      func() (d ledger.StoredDocument, empty bool, err error)
}

// newPendingWrite returns how to write a changed value. ok is false if the value is unchanged, or
// was written too recently.
func (t *tracker) newPendingWrite(change valueChange, now time.Time) (write pendingWrite, ok bool) {
	written := t.get(change.name)
	isFirst, age := written.saved.IsZero(), now.Sub(written.saved)
	if age < 0 {
		age = renewInterval // A wrong clock wrote the value.
	}
	renew := !isFirst && age >= renewInterval
	if change.revision == written.revision && !renew || !isFirst && age < change.minInterval {
		return pendingWrite{}, false
	}
	var document ledger.StoredDocument
	return pendingWrite{
		name:     change.name,
		logField: change.logField,
		encode: func() (data []byte, err error) {
			var empty bool
			document, empty, err = change.encode()
			switch {
			case err != nil:
				return nil, err
			case document.Checksum == written.hash && !renew, empty && isFirst:
				written.revision = change.revision
				t.set(change.name, written)
				return nil, nil
			case empty && renew:
				return nil, nil // The value expires.
			}
			return document.Data, nil
		},
		onStored: func() {
			t.set(change.name, writtenValue{hash: document.Checksum, saved: document.Saved, revision: change.revision})
		},
	}, true
}

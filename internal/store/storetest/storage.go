// Package storetest provides a storage in memory that can fail, for tests.
package storetest

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Storage is a storage in memory, which several instances can share. Tests set its fields only
// while no instance uses it.
type Storage struct {
	Values        map[string][]byte
	ModTimes      map[string]time.Time // ModTimes are the modification times of the values.
	Now           time.Time            // Now is the modification time of new values.
	WriteAttempts int                  // WriteAttempts is the number of attempts to write.
	ListedDirs    []string             // ListedDirs are the listed directories. A recursive listing ends with "/...".

	Err             error         // Err is the error of all operations except Unlock.
	BlockList       chan struct{} // If BlockList is set, List waits until the channel is closed.
	RejectedKeyPart string        // A key that contains RejectedKeyPart cannot be stored.
	DeleteErr       error         // DeleteErr is the error of Delete.

	mu    sync.Mutex
	locks map[string]chan struct{} // The key is the name of the lock. The channel of a locked name has one value.
}

// New returns an empty storage.
func New() *Storage {
	return &Storage{Values: make(map[string][]byte), ModTimes: make(map[string]time.Time), Now: time.Now()}
}

// Clone returns a copy of the storage with the same values.
func (m *Storage) Clone() *Storage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &Storage{Values: maps.Clone(m.Values), ModTimes: maps.Clone(m.ModTimes), Now: m.Now}
}

// SetErr sets the field Err. With nil, operations succeed again. Tests may call SetErr while
// instances use the storage.
func (m *Storage) SetErr(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Err = err
}

// SetNow sets the modification time of values that are written later. Tests may call it while
// instances use the storage.
func (m *Storage) SetNow(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Now = now
}

// Lock waits until no other caller holds the lock with this name.
func (m *Storage) Lock(ctx context.Context, name string) error {
	m.mu.Lock()
	if m.locks == nil {
		m.locks = make(map[string]chan struct{})
	}
	if m.locks[name] == nil {
		m.locks[name] = make(chan struct{}, 1)
	}
	lock, err := m.locks[name], m.Err
	m.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Unlock releases a lock.
func (m *Storage) Unlock(_ context.Context, name string) error {
	m.mu.Lock()
	lock := m.locks[name]
	m.mu.Unlock()
	select {
	case <-lock:
		return nil
	default:
		return errors.New("unlock of a name that is not locked: " + name)
	}
}

// ReleaseLocks forgets all locks, as a storage does if the instance with the locks was killed. A
// call of Lock that already waits is not woken.
func (m *Storage) ReleaseLocks() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.locks)
}

// Store writes a value.
func (m *Storage) Store(_ context.Context, key string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.WriteAttempts++
	if m.Err != nil || m.RejectedKeyPart != "" && strings.Contains(key, m.RejectedKeyPart) {
		return errors.Join(m.Err, errors.New("refused"))
	}
	m.Values[key], m.ModTimes[key] = slices.Clone(value), m.Now
	return nil
}

// Load returns a value.
func (m *Storage) Load(_ context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok := m.Values[key]
	if !ok {
		return nil, cmp.Or(m.Err, fs.ErrNotExist)
	}
	return value, m.Err
}

// Delete removes a value.
func (m *Storage) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.DeleteErr != nil {
		return m.DeleteErr
	}
	delete(m.Values, key)
	return m.Err
}

// List returns the keys in a directory. Like a file system, List also returns directories.
func (m *Storage) List(_ context.Context, directory string, recursive bool) ([]string, error) {
	if m.BlockList != nil {
		<-m.BlockList
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if recursive {
		m.ListedDirs = append(m.ListedDirs, directory+"/...")
	} else {
		m.ListedDirs = append(m.ListedDirs, directory)
	}
	found, prefix := make(map[string]bool), directory+"/"
	for key := range m.Values {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		end := len(prefix)
		for more := true; more && (recursive || end == len(prefix)); {
			var part string
			part, _, more = strings.Cut(key[end:], "/")
			end += len(part)
			found[key[:end]] = true
			end++
		}
	}
	if len(found) == 0 {
		return nil, cmp.Or(m.Err, fs.ErrNotExist)
	}
	return slices.Sorted(maps.Keys(found)), m.Err
}

// Stat returns the size and the modification time of a value.
func (m *Storage) Stat(_ context.Context, key string) (size int64, modified time.Time, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok := m.Values[key]
	if !ok {
		return 0, time.Time{}, fs.ErrNotExist
	}
	return int64(len(value)), m.ModTimes[key], m.Err
}

// Keys returns the keys of all values, in order.
func (m *Storage) Keys() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.Values))
}

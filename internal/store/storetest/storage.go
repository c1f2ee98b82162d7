// Package storetest has a storage in memory for tests, which breaks when it is
// told to.
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

// Storage is a storage that several instances share. Tests set its fields while
// nobody uses it.
type Storage struct {
	Values map[string][]byte
	Times  map[string]time.Time // of the values, when they were written
	Now    time.Time            // when values are written
	Writes int                  // attempts
	Lists  []string             // the directories that were listed, with "/..." for all below

	Broken error         // of everything
	Silent chan struct{} // if set, nobody gets a list before it is closed
	Refuse string        // part of keys that are not stored
	Keep   error         // of everything that is to be deleted

	mu    sync.Mutex
	locks map[string]chan struct{} // by name, with one value while somebody has it
}

// New returns a storage that is empty.
func New() *Storage {
	return &Storage{Values: make(map[string][]byte), Times: make(map[string]time.Time), Now: time.Now()}
}

// Clone returns a storage with the same values.
func (m *Storage) Clone() *Storage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &Storage{Values: maps.Clone(m.Values), Times: maps.Clone(m.Times), Now: m.Now}
}

// Break breaks the storage while it may be in use, and nil mends it.
func (m *Storage) Break(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Broken = err
}

// SetNow sets the time of what is written from now on, while the storage may be in use.
func (m *Storage) SetNow(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Now = now
}

// Lock waits until nobody else has the lock of that name.
func (m *Storage) Lock(ctx context.Context, name string) error {
	m.mu.Lock()
	if m.locks == nil {
		m.locks = make(map[string]chan struct{})
	}
	if m.locks[name] == nil {
		m.locks[name] = make(chan struct{}, 1)
	}
	lock, err := m.locks[name], m.Broken
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

// Unlock gives a lock back.
func (m *Storage) Unlock(_ context.Context, name string) error {
	m.mu.Lock()
	lock := m.locks[name]
	m.mu.Unlock()
	select {
	case <-lock:
		return nil
	default:
		return errors.New("it was not locked: " + name)
	}
}

// FreeLocks gives all locks back, as storages do with those of the dead.
func (m *Storage) FreeLocks() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.locks)
}

// Store writes a value.
func (m *Storage) Store(_ context.Context, key string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Writes++
	if m.Broken != nil || m.Refuse != "" && strings.Contains(key, m.Refuse) {
		return errors.Join(m.Broken, errors.New("refused"))
	}
	m.Values[key], m.Times[key] = slices.Clone(value), m.Now
	return nil
}

// Load returns a value.
func (m *Storage) Load(_ context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok := m.Values[key]
	if !ok {
		return nil, cmp.Or(m.Broken, fs.ErrNotExist)
	}
	return value, m.Broken
}

// Delete removes a value.
func (m *Storage) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Keep != nil {
		return m.Keep
	}
	delete(m.Values, key)
	return m.Broken
}

// List returns the keys below a directory, and directories, too, as a file system
// does.
func (m *Storage) List(_ context.Context, directory string, recursive bool) ([]string, error) {
	if m.Silent != nil {
		<-m.Silent
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if recursive {
		m.Lists = append(m.Lists, directory+"/...")
	} else {
		m.Lists = append(m.Lists, directory)
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
		return nil, cmp.Or(m.Broken, fs.ErrNotExist)
	}
	return slices.Sorted(maps.Keys(found)), m.Broken
}

// Stat returns the size of a value and when it was written.
func (m *Storage) Stat(_ context.Context, key string) (size int64, modified time.Time, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok := m.Values[key]
	if !ok {
		return 0, time.Time{}, fs.ErrNotExist
	}
	return int64(len(value)), m.Times[key], m.Broken
}

// Keys returns the keys of all values, in order.
func (m *Storage) Keys() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.Values))
}

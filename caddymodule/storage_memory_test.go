package caddymodule

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

// memory is a storage that several instances share.
type memory struct {
	mu     sync.Mutex
	values map[string][]byte
	times  map[string]time.Time
	now    time.Time
	broken error         // of everything
	silent chan struct{} // if set, nobody gets a list before it is closed
	refuse string        // part of keys that are not stored
	keep   error         // of everything that is to be deleted
	writes int
}

func newMemory() *memory {
	return &memory{values: make(map[string][]byte), times: make(map[string]time.Time), now: time.Now()}
}

func (m *memory) Store(_ context.Context, key string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes++
	if m.broken != nil || m.refuse != "" && strings.Contains(key, m.refuse) {
		return errors.Join(m.broken, errors.New("refused"))
	}
	m.values[key], m.times[key] = slices.Clone(value), m.now
	return nil
}

func (m *memory) Load(_ context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok := m.values[key]
	if !ok {
		return nil, cmp.Or(m.broken, fs.ErrNotExist)
	}
	return value, m.broken
}

func (m *memory) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.keep != nil {
		return m.keep
	}
	delete(m.values, key)
	return m.broken
}

func (m *memory) List(_ context.Context, prefix string, recursive bool) ([]string, error) {
	if m.silent != nil {
		<-m.silent
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	found := make(map[string]bool) // also directories, as from a file system
	for key := range m.values {
		rest, ok := strings.CutPrefix(key, prefix+"/")
		if !ok {
			continue
		}
		parts := strings.Split(rest, "/")
		if !recursive {
			parts = parts[:1]
		}
		for i := range parts {
			found[prefix+"/"+strings.Join(parts[:i+1], "/")] = true
		}
	}
	if len(found) == 0 {
		return nil, cmp.Or(m.broken, fs.ErrNotExist)
	}
	return slices.Sorted(maps.Keys(found)), m.broken
}

func (m *memory) stat(_ context.Context, key string) (int64, time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok := m.values[key]
	if !ok {
		return 0, time.Time{}, fs.ErrNotExist
	}
	return int64(len(value)), m.times[key], m.broken
}

func (m *memory) keys() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.values))
}

package caddymodule

import (
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
	broken error  // of everything
	refuse string // part of keys that are not stored
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
		return nil, errors.Join(m.broken, fs.ErrNotExist)
	}
	return value, m.broken
}

func (m *memory) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, key)
	return m.broken
}

func (m *memory) List(_ context.Context, prefix string, _ bool) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	keys := []string{"robots_guard/v1/first", "robots_guard/v1/first/policies"} // directories, as from a file system
	for key := range m.values {
		if strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	return keys, m.broken
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

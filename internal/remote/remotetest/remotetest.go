// Package remotetest provides a source and a storage with content and errors set by tests.
package remotetest

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap/zaptest/observer"

	"github.com/robotsguard/caddy-robots-guard/internal/remote"
)

// ErrDown is an error for sources and storages.
var ErrDown = errors.New("the server is down")

// Lifetime is the freshness lifetime of a source's answer.
const Lifetime = 5 * time.Minute

// Source is a URL or file whose content and error a test sets.
type Source struct {
	name      string
	isFile    bool
	mu        sync.Mutex
	data      string
	err       error
	readCount int
}

// NewSource returns a URL with this content or error.
func NewSource(name, data string, err error) *Source {
	return &Source{name: name, data: data, err: err}
}

// NewFileSource returns a file with this content.
func NewFileSource(name, data string) *Source { return &Source{name: name, isFile: true, data: data} }

// Name implements [remote.Source].
func (s *Source) Name() string { return s.name }

// IsURL implements [remote.Source].
func (s *Source) IsURL() bool { return !s.isFile }

// Read implements [remote.Source].
func (s *Source) Read(_ context.Context, before remote.FetchResult) (remote.FetchResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readCount++
	a := remote.FetchResult{ETag: s.data, Lifetime: Lifetime}
	if s.err != nil {
		return remote.FetchResult{}, s.err
	}
	if before.ETag == s.data && s.data != "" {
		a.IsUnchanged = true
		return a, nil
	}
	a.Data = []byte(s.data)
	return a, nil
}

// SetContent replaces the content and the error.
func (s *Source) SetContent(data string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data, s.err = data, err
}

// ReadCount returns the number of reads.
func (s *Source) ReadCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readCount
}

// SlowSource is a URL whose server answers after half a minute.
type SlowSource struct{ *Source }

// Read implements [remote.Source].
func (s SlowSource) Read(ctx context.Context, before remote.FetchResult) (remote.FetchResult, error) {
	select {
	case <-time.After(30 * time.Second):
		return s.Source.Read(ctx, before)
	case <-ctx.Done():
		return remote.FetchResult{}, context.Cause(ctx)
	}
}

// CheckLoadDoesNotWait calls load while run reads from a [SlowSource]. The test fails if load
// returns after the end of its context. The caller must run CheckLoadDoesNotWait in a synctest
// bubble.
func CheckLoadDoesNotWait(t testing.TB, run, load func(context.Context)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); run(ctx) }()
	time.Sleep(10 * time.Second) // it is being read
	loadCtx, cancelLoad := context.WithTimeout(ctx, 5*time.Second)
	start := time.Now()
	if load(loadCtx); time.Since(start) > 5*time.Second {
		t.Errorf("a configuration waits for %v", time.Since(start))
	}
	cancelLoad()
	time.Sleep(time.Minute)
	cancel()
	<-done
}

// Storage is a storage in memory.
type Storage struct {
	mu     sync.Mutex
	values map[string][]byte
	err    error
	hangs  bool
}

// NewStorage returns an empty storage.
func NewStorage() *Storage { return &Storage{values: make(map[string][]byte)} }

// SetErr sets the error of all operations, or nil.
func (m *Storage) SetErr(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = err
}

// Hang delays each operation by an hour.
func (m *Storage) Hang() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hangs = true
}

// Len returns the number of values.
func (m *Storage) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.values)
}

// Corrupt replaces all values.
func (m *Storage) Corrupt(value string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key := range m.values {
		m.values[key] = []byte(value)
	}
}

// hangIfEnabled sleeps for an hour after a call of Hang.
func (m *Storage) hangIfEnabled() {
	m.mu.Lock()
	hangs := m.hangs
	m.mu.Unlock()
	if hangs {
		time.Sleep(time.Hour)
	}
}

// Store implements [remote.Storage].
func (m *Storage) Store(_ context.Context, key string, value []byte) error {
	m.hangIfEnabled()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		m.values[key] = value
	}
	return m.err
}

// Load implements [remote.Storage].
func (m *Storage) Load(_ context.Context, key string) ([]byte, error) {
	m.hangIfEnabled()
	m.mu.Lock()
	defer m.mu.Unlock()
	if value, ok := m.values[key]; ok {
		return value, m.err
	}
	return nil, fs.ErrNotExist
}

// CheckLog fails unless exactly these messages were logged since the last call. want has prefixes.
func CheckLog(t *testing.T, log *observer.ObservedLogs, want ...string) {
	t.Helper()
	var got []string
	for _, e := range log.TakeAll() {
		got = append(got, e.Message)
	}
	ok := len(got) == len(want)
	for i := range min(len(got), len(want)) {
		ok = ok && strings.HasPrefix(got[i], want[i])
	}
	if !ok {
		t.Errorf("logged %q, want %q", got, want)
	}
}

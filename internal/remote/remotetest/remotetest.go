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

// Source is a [remote.Source] whose content and error a test sets.
type Source struct {
	name      string
	isFile    bool
	mu        sync.Mutex
	data      string
	err       error
	readCount int
}

// NewSource returns a source that appears to be a URL. Read returns data or err.
func NewSource(name, data string, err error) *Source {
	return &Source{name: name, data: data, err: err}
}

// NewFileSource returns a source that appears to be a file. Read returns data.
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

// ReadCount returns the number of calls of Read.
func (s *Source) ReadCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readCount
}

// SlowSource is a Source that answers after half a minute.
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

// CheckLoadDoesNotWait checks that load returns when its context ends, while run fetches from a
// [SlowSource]. The caller must run CheckLoadDoesNotWait in a synctest bubble.
func CheckLoadDoesNotWait(t testing.TB, run, load func(context.Context)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); run(ctx) }()
	time.Sleep(10 * time.Second) // The run function is reading the source.
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

// Storage is a [remote.Storage] in memory.
type Storage struct {
	mu     sync.Mutex
	values map[string][]byte
	err    error
	hangs  bool
}

// NewStorage returns an empty storage.
func NewStorage() *Storage { return &Storage{values: make(map[string][]byte)} }

// SetErr sets the error that later operations return, or nil for none.
func (m *Storage) SetErr(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = err
}

// Hang makes later operations take an hour.
func (m *Storage) Hang() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hangs = true
}

// Len returns the number of stored values.
func (m *Storage) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.values)
}

// Corrupt replaces every stored value by value.
func (m *Storage) Corrupt(value string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key := range m.values {
		m.values[key] = []byte(value)
	}
}

// hangIfEnabled sleeps for an hour if Hang was called.
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

// CheckLog checks the messages that were logged since the last call of CheckLog: as many as in
// want, and each with the wanted prefix.
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

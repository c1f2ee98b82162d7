// Package remotetest has a source and a storage for tests, which say and fail what they
// are told to.
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

// ErrDown is what sources and storages may fail with.
var ErrDown = errors.New("the server is down")

// Life is how long an answer of a source lives.
const Life = 5 * time.Minute

// Source is a URL, or a file, that says what a test wants.
type Source struct {
	name  string
	file  bool
	mu    sync.Mutex
	data  string
	err   error
	reads int
}

// NewSource returns a URL that says this, or fails.
func NewSource(name, data string, err error) *Source {
	return &Source{name: name, data: data, err: err}
}

// NewFile returns a file that says this.
func NewFile(name, data string) *Source { return &Source{name: name, file: true, data: data} }

// Name implements [remote.Source].
func (s *Source) Name() string { return s.name }

// IsURL implements [remote.Source].
func (s *Source) IsURL() bool { return !s.file }

// Read implements [remote.Source].
func (s *Source) Read(_ context.Context, before remote.Answer) (remote.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	a := remote.Answer{ETag: s.data, Life: Life}
	if s.err != nil {
		return remote.Answer{}, s.err
	}
	if before.ETag == s.data && s.data != "" {
		a.Unchanged = true
		return a, nil
	}
	a.Data = []byte(s.data)
	return a, nil
}

// Say lets it say something else from now on.
func (s *Source) Say(data string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data, s.err = data, err
}

// Reads returns how often it was read.
func (s *Source) Reads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads
}

// Slow is a URL whose server takes half a minute for each answer.
type Slow struct{ *Source }

// Read implements [remote.Source].
func (s Slow) Read(ctx context.Context, before remote.Answer) (remote.Answer, error) {
	select {
	case <-time.After(30 * time.Second):
		return s.Source.Read(ctx, before)
	case <-ctx.Done():
		return remote.Answer{}, context.Cause(ctx)
	}
}

// LoadsInTime has a text loaded that is being read from a [Slow] server, and fails if that
// takes longer than its context lasts. A bubble of synctest has to be around it.
func LoadsInTime(t testing.TB, run, load func(context.Context)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); run(ctx) }()
	time.Sleep(10 * time.Second) // it is being read
	loading, end := context.WithTimeout(ctx, 5*time.Second)
	begin := time.Now()
	if load(loading); time.Since(begin) > 5*time.Second {
		t.Errorf("a configuration waits for %v", time.Since(begin))
	}
	end()
	time.Sleep(time.Minute)
	cancel()
	<-ended
}

// Storage is a storage in memory.
type Storage struct {
	mu     sync.Mutex
	values map[string][]byte
	err    error
	hangs  bool
}

// NewStorage returns a storage that is empty.
func NewStorage() *Storage { return &Storage{values: make(map[string][]byte)} }

// Fail lets it fail, or not any more for nil.
func (m *Storage) Fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = err
}

// Hang lets it answer after an hour.
func (m *Storage) Hang() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hangs = true
}

// Len returns how many values there are.
func (m *Storage) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.values)
}

// Damage puts something in the place of all values.
func (m *Storage) Damage(value string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key := range m.values {
		m.values[key] = []byte(value)
	}
}

// wait is how long an operation takes.
func (m *Storage) wait() {
	m.mu.Lock()
	hangs := m.hangs
	m.mu.Unlock()
	if hangs {
		time.Sleep(time.Hour)
	}
}

// Store implements [remote.Storage].
func (m *Storage) Store(_ context.Context, key string, value []byte) error {
	m.wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		m.values[key] = value
	}
	return m.err
}

// Load implements [remote.Storage].
func (m *Storage) Load(_ context.Context, key string) ([]byte, error) {
	m.wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	if value, ok := m.values[key]; ok {
		return value, m.err
	}
	return nil, fs.ErrNotExist
}

// Told fails unless just these lines were logged since the last call, by how they begin.
func Told(t *testing.T, log *observer.ObservedLogs, want ...string) {
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
		t.Errorf("told %q, want %q", got, want)
	}
}

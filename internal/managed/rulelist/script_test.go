package rulelist

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/robotsguard/caddy-robots-guard/internal/remote"
)

// script is a source that says what a test wants.
type script struct {
	mu    sync.Mutex
	data  string
	err   error
	life  time.Duration
	reads int
	file  bool
}

func (s *script) Name() string { return "https://cms.test/rules" }
func (s *script) IsURL() bool  { return !s.file }

func (s *script) Read(_ context.Context, before remote.Answer) (remote.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	a := remote.Answer{ETag: s.data, Life: s.life}
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

func (s *script) say(data string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data, s.err = data, err
}

// count returns how often it was read.
func (s *script) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads
}

// list returns a list with rules of these names.
func list(ids ...string) string {
	var rules []string
	for _, id := range ids {
		until := "null"
		if strings.HasPrefix(id, "old") {
			until = `"1999-01-01T00:00:00Z"`
		}
		rules = append(rules, fmt.Sprintf(`{"id": %q, "for": ["GPTBot"], "disallow": ["/%s"], "until": %s}`, id, id, until))
	}
	return `{"rules": [` + strings.Join(rules, ", ") + "]}"
}

func (v *Version) ids() string {
	if v == nil {
		return "nothing"
	}
	var ids []string
	for _, r := range v.Rules {
		ids = append(ids, r.ID)
	}
	return strings.Join(ids, " ")
}

// memory is a storage.
type memory struct {
	mu     sync.Mutex
	values map[string][]byte
	err    error
	hangs  bool
}

// fail has the storage fail, or not any more for nil.
func (m *memory) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = err
}

// len returns how many values there are.
func (m *memory) len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.values)
}

func (m *memory) Store(_ context.Context, key string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		m.values[key] = value
	}
	return m.err
}

func (m *memory) Load(_ context.Context, key string) ([]byte, error) {
	if m.hangs {
		time.Sleep(time.Hour)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if value, ok := m.values[key]; ok {
		return value, m.err
	}
	return nil, fs.ErrNotExist
}

// reader is a list that a user reads.
type reader struct {
	*List
	source  *script
	log     *observer.ObservedLogs
	storage *memory
	changed int
	failed  int
	end     func()
}

// read returns a list that says this, once a configuration with it is loaded.
func read(t *testing.T, storage *memory, data string, err error) *reader {
	t.Helper()
	core, log := observer.New(zapcore.InfoLevel)
	r := &reader{source: &script{data: data, err: err, life: 5 * time.Minute}, log: log, storage: storage}
	r.List = &List{source: r.source, now: time.Now}
	r.Use(&User{Changed: func() { r.changed++ }, Failed: func() { r.failed++ }, Logger: zap.New(core), Storage: storage})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); r.Run(ctx) }()
	r.end = func() { cancel(); <-ended }
	r.Load(ctx, new(int), storage)
	return r
}

// next lets a time pass.
func next(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (r *reader) has(t *testing.T, want string) {
	t.Helper()
	if got := r.Good().ids(); got != want {
		t.Errorf("the list has %s, want %s", got, want)
	}
}

func (r *reader) told(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for _, e := range r.log.TakeAll() {
		got = append(got, e.Message)
	}
	if len(got) != len(want) {
		t.Errorf("told %q, want %q", got, want)
		return
	}
	for i := range got {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("told %q, want %q", got[i], want[i])
		}
	}
}

func newMemory() *memory { return &memory{values: make(map[string][]byte)} }

var errDown = errors.New("the database is down")

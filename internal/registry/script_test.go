package registry

import (
	"context"
	"crypto/ed25519"
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
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// script is a source that says what a test wants.
type script struct {
	mu    sync.Mutex
	data  string
	err   error
	reads int
	file  bool
}

func (s *script) Name() string { return "https://names.test/registry.json" }
func (s *script) IsURL() bool  { return !s.file }

func (s *script) Read(_ context.Context, before remote.Answer) (remote.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	a := remote.Answer{ETag: s.data, Life: 5 * time.Minute}
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

// text returns a registry of search engines of these names; a class may stand behind a
// colon.
func text(serial int, names ...string) string {
	var entries []string
	for _, name := range names {
		token, class, ok := strings.Cut(name, ":")
		if !ok {
			class = "seo"
		}
		entries = append(entries, fmt.Sprintf(`{"token": %q, "class": %q, "source": "https://names.test/"}`, token, class))
	}
	return fmt.Sprintf(`{"serial": %d, "crawlers": [%s]}`, serial, strings.Join(entries, ",\n"))
}

func (t *Text) names() string {
	if t == nil {
		return "nothing"
	}
	var names []string
	for _, c := range t.Crawlers {
		names = append(names, c.Token)
	}
	return strings.Join(names, " ")
}

// memory is a storage.
type memory struct {
	mu     sync.Mutex
	values map[string][]byte
	err    error
}

func newMemory() *memory { return &memory{values: make(map[string][]byte)} }

func (m *memory) Store(_ context.Context, key string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		m.values[key] = value
	}
	return m.err
}

func (m *memory) Load(_ context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if value, ok := m.values[key]; ok {
		return value, m.err
	}
	return nil, fs.ErrNotExist
}

// reader is a registry that a configuration reads.
type reader struct {
	*Feed
	source, signature *script
	log               *observer.ObservedLogs
	events            []string
	changed           int
	end               func()
}

// read returns a registry that says this, once a configuration with it runs.
func read(t *testing.T, storage *memory, key ed25519.PublicKey, source, signature *script) *reader {
	t.Helper()
	core, log := observer.New(zapcore.InfoLevel)
	r := &reader{source: source, signature: signature, log: log}
	r.Feed = &Feed{Settings: Settings{Key: key, Now: time.Now}, source: source}
	if signature != nil {
		r.Feed.signature = signature
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); r.Run(ctx) }()
	r.end = func() { cancel(); <-ended }
	r.Load(ctx, new(int), storage)
	r.Use(&User{
		Changed: func() { r.changed++ }, Logger: zap.New(core), Storage: storage,
		Tell: func(event string, _ map[string]any) { r.events = append(r.events, event) },
	})
	return r
}

// next lets a time pass.
func next(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (r *reader) has(t *testing.T, want string) {
	t.Helper()
	if got := r.Good().names(); got != want {
		t.Errorf("the registry has %s, want %s", got, want)
	}
}

// told compares what was logged, by how it begins.
func (r *reader) told(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for _, e := range r.log.TakeAll() {
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

var errDown = errors.New("the server is down")

// known is what is known with the text in use.
func (r *reader) known(t *testing.T) *uaident.Registry {
	t.Helper()
	known, err := r.Good().Over(uaident.Default())
	if err != nil {
		t.Fatal(err)
	}
	return known
}

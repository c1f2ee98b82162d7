package registry

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/robotsguard/caddy-robots-guard/internal/remote"
	"github.com/robotsguard/caddy-robots-guard/internal/remote/remotetest"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

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

// reader is a registry that a configuration reads.
type reader struct {
	*Feed
	source, signature *remotetest.Source
	log               *observer.ObservedLogs
	events            []string
	changed           int
	end               func()
}

// read returns a registry that says this, once a configuration with it runs.
func read(t *testing.T, storage remote.Storage, key ed25519.PublicKey, source, signature *remotetest.Source) *reader {
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
	remotetest.Told(t, r.log, want...)
}

var errDown = remotetest.ErrDown

// known is what is known with the text in use.
func (r *reader) known(t *testing.T) *uaident.Registry {
	t.Helper()
	known, err := r.Good().Over(uaident.Default())
	if err != nil {
		t.Fatal(err)
	}
	return known
}

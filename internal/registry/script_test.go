package registry

import (
	"context"
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
)

// registryOf returns a registry with crawlers of these names.
func registryOf(names ...string) string {
	var entries []string
	for _, name := range names {
		entries = append(entries, fmt.Sprintf(`{"token": %q, "class": "seo", "source": "https://names.test/"}`, name))
	}
	return fmt.Sprintf(`{"crawlers": [%s]}`, strings.Join(entries, ",\n"))
}

func (v *Version) names() string {
	if v == nil {
		return "nothing"
	}
	var names []string
	for _, c := range v.Crawlers {
		names = append(names, c.Token)
	}
	return strings.Join(names, " ")
}

// reader is a registry that a configuration reads.
type reader struct {
	*Feed
	source  *remotetest.Source
	log     *observer.ObservedLogs
	events  []string
	changed int
	end     func()
}

// read returns the registry of a source, in use by a configuration that runs.
func read(t *testing.T, storage remote.Storage, source *remotetest.Source, interval ...time.Duration) *reader {
	t.Helper()
	core, log := observer.New(zapcore.InfoLevel)
	r := &reader{Feed: newFeed(Settings{Clock: time.Now, Interval: append(interval, 0)[0]}, source), source: source, log: log}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); r.Run(ctx) }()
	r.end = func() { cancel(); <-ended }
	r.Load(ctx, new(int), storage)
	r.AddUser(&FeedUser{
		OnChange: func() { r.changed++ }, Logger: zap.New(core), Storage: storage,
		SendEvent: func(event string, _ map[string]any) { r.events = append(r.events, event) },
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
	if got := r.Content().names(); got != want {
		t.Errorf("the registry has %s, want %s", got, want)
	}
}

// told compares what was logged, by how it begins.
func (r *reader) told(t *testing.T, want ...string) {
	t.Helper()
	remotetest.CheckLog(t, r.log, want...)
}

var errDown = remotetest.ErrDown

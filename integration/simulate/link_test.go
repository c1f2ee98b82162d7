package simulate

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// link is an instance's connection to the common storage.
type link struct {
	*disk
	of    *instance
	cut   atomic.Bool
	last  time.Time // when it was last found to be cut
	clock []setting // settings of the instance's clock; the first applies from the start

	mu    sync.Mutex
	known map[string]shiftedValue // values loaded last, by key
}

// disk is the common storage. It caches listings until a key is added or removed.
type disk struct {
	*storetest.Storage
	mu     sync.Mutex
	keys   map[string]bool
	listed map[string][]string // by directory
}

func newDisk() *disk {
	return &disk{Storage: storetest.New(), keys: make(map[string]bool), listed: make(map[string][]string)}
}

// has records whether a key exists.
func (d *disk) has(key string, is bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.keys[key] != is {
		d.keys[key] = is
		clear(d.listed)
	}
}

func (d *disk) List(ctx context.Context, path string, recursive bool) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if all, ok := d.listed[path]; ok && !recursive {
		return all, nil
	}
	all, err := d.Storage.List(ctx, path, recursive)
	if err == nil && !recursive {
		d.listed[path] = all
	}
	return all, err
}

var errCut = errors.New("the storage cannot be reached")

func (l *link) Store(ctx context.Context, key string, value []byte) error {
	if l.cut.Load() {
		return errCut
	}
	if strings.Contains(key, "/changes/") || strings.Contains(key, "/copies/") {
		l.of.noted = time.Now()
	}
	if !strings.Contains(key, "/specs/") {
		l.mu.Lock()
		value = l.out(value)
		l.mu.Unlock()
	}
	defer l.has(key, true)
	return l.Storage.Store(ctx, key, value)
}

func (l *link) Load(ctx context.Context, key string) ([]byte, error) {
	if l.cut.Load() {
		return nil, errCut
	}
	value, err := l.Storage.Load(ctx, key)
	if err != nil {
		return nil, err
	}
	return l.in(key, value), nil
}

// out returns a value that the instance stores, with its times according to the
// instance's clock.
func (l *link) out(value []byte) []byte {
	if len(l.clock) == 1 && l.skew() == 0 {
		return value
	}
	return shifted(value, l.skewAt)
}

// in returns a value that the instance loads, with its times relative to the instance's
// clock. Specs contain no times, and the hash of their content is their name, so they
// stay unchanged.
func (l *link) in(key string, value []byte) []byte {
	by := -l.skew()
	if by == 0 || strings.Contains(key, "/specs/") {
		return value
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.known[key]; known.by == by && bytes.Equal(known.value, value) {
		return known.shifted // a history is loaded every minute
	}
	to := shifted(value, func(time.Time) time.Duration { return by })
	if l.known == nil {
		l.known = make(map[string]shiftedValue)
	}
	l.known[key] = shiftedValue{value, to, by}
	return to
}

// shiftedValue is a stored value with its shifted form.
type shiftedValue struct {
	value, shifted []byte
	by             time.Duration
}

func (l *link) Lock(ctx context.Context, name string) error {
	if l.cut.Load() {
		return errCut
	}
	return l.Storage.Lock(ctx, name)
}

func (l *link) List(ctx context.Context, path string, recursive bool) ([]string, error) {
	if l.cut.Load() {
		return nil, errCut
	}
	return l.disk.List(ctx, path, recursive)
}

func (l *link) Stat(ctx context.Context, key string) (int64, time.Time, error) {
	if l.cut.Load() {
		return 0, time.Time{}, errCut
	}
	size, modified, err := l.Storage.Stat(ctx, key)
	return size, modified.Add(-l.skew()), err
}

func (l *link) Delete(ctx context.Context, key string) error {
	if l.cut.Load() {
		return errCut
	}
	defer l.has(key, false)
	return l.Storage.Delete(ctx, key)
}

// Package registry reads the registry of crawlers that a configuration names in addition to
// the built-in one, from a file or a URL, and keeps its last good version.
package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/remote"
	"github.com/robotsguard/caddy-robots-guard/uaident/edition"
)

// Settings say where a registry is.
type Settings struct {
	// Place is a file, or a URL of http or https.
	Place string
	// Interval is the time between two fetches. Zero means two seconds for a file, and the
	// lifetime that the server states for a URL.
	Interval time.Duration
	// Now is the clock.
	Now func() time.Time
}

// Version is one fetched registry. It is immutable.
type Version struct {
	*edition.Edition
	hash [sha256.Size]byte
	data []byte
}

// ID identifies the version in messages.
func (v *Version) ID() string { return hex.EncodeToString(v.hash[:8]) }

// equal reports whether two versions, which may be nil, have the same content.
func (v *Version) equal(o *Version) bool { return v == o || v != nil && o != nil && v.hash == o.hash }

// User is a configuration that uses a registry.
type User struct {
	// Changed is called when another version may be in use. It must not wait for the feed.
	Changed func()
	// The fields below are used of the first user only, so that each message is sent once.
	Logger  *zap.Logger
	Tell    func(event string, data map[string]any) // nil sends no events
	Storage remote.Storage                          // nil stores nothing
	asking  remote.Asking                           // that storage
}

// Feed is a registry at a file or a URL. It outlives a configuration, and keeps nothing of one
// except its users. Several goroutines may use a Feed.
type Feed struct {
	Settings
	source remote.Source

	reading  sync.Mutex // held while the registry is fetched or stored; guards the next fields
	restored bool       // the storage has answered what it has, or something was fetched
	stored   [sha256.Size]byte
	unstored bool // the last attempt to store failed, so the next failure is not logged

	mu    sync.Mutex
	users remote.Users[User]
	load  any // the configuration that was loaded last
	state
}

// state is the last version and the result of the last fetch.
type state struct {
	good     *Version      // the version in use, nil for none
	last     remote.Answer // without its data
	trouble  error         // why there is no newer version, nil if there is no reason
	failing  time.Time     // since when there is trouble
	invalid  error         // what is wrong with the version of the last answer, nil for nothing
	reported bool          // the trouble was logged
	failures int           // in a row
	checked  time.Time     // when good was last confirmed as current
	next     time.Time     // the next fetch
}

// New returns the registry at a place. It is not fetched yet.
func New(s Settings) (*Feed, error) {
	source, err := remote.Kind{Option: "registry", Text: "a registry", Max: edition.MaxBytes}.New(s.Place, s.Now)
	return &Feed{Settings: s, source: source}, err
}

// Name returns the file or the URL.
func (f *Feed) Name() string { return f.source.Name() }

// IsFile reports whether the registry is a file.
func (f *Feed) IsFile() bool { return !f.source.IsURL() }

// Good returns the version in use, nil for none.
func (f *Feed) Good() *Version {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.good
}

// Trouble returns why there is no newer version, nil if there is no reason.
func (f *Feed) Trouble() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.trouble
}

// Use adds a user until release is called, and reports trouble that no user was there to
// receive.
func (f *Feed) Use(u *User) (release func()) {
	f.mu.Lock()
	f.users.Add(u)
	report := f.reportTrouble()
	f.mu.Unlock()
	report()
	u.Changed()
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.users.Remove(u)
	}
}

// Load fetches the registry for a configuration that is being loaded, which config identifies
// by a comparable value. If no version is known, it looks into the storage first, which may be
// nil. The result is in Good and Trouble. Load returns when ctx ends, also if another fetch is
// under way.
func (f *Feed) Load(ctx context.Context, config any, storage remote.Storage) {
	f.mu.Lock()
	again := f.load == config
	f.load = config
	f.mu.Unlock()
	if again || !remote.LockUntil(ctx, &f.reading) {
		return
	}
	defer f.reading.Unlock()
	f.restore(ctx, new(remote.Asking), storage)
	f.fetch(ctx, true)
}

// Run fetches the registry when that is due, until ctx ends, and stores it in the storage of
// its users.
func (f *Feed) Run(ctx context.Context) { remote.Run(ctx, f.step) }

// step does what is due, and returns the time until the next fetch.
func (f *Feed) step(ctx context.Context) time.Duration {
	f.reading.Lock()
	defer f.reading.Unlock()
	if f.wait() <= 0 {
		f.fetch(ctx, false)
	}
	f.mu.Lock()
	user := f.users.First()
	f.mu.Unlock()
	if user != nil && user.Storage != nil && f.source.IsURL() {
		f.restore(ctx, &user.asking, user.Storage)
		f.store(ctx, user)
	}
	return f.wait()
}

// wait returns the time until the next fetch.
func (f *Feed) wait() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.next.Sub(f.Now())
}

// Package registry fetches the configured registry of crawlers from a file or URL, and stores
// its last good version.
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
	// Interval is the time between fetches. Zero means two seconds for a file, and the
	// freshness lifetime of the response for a URL.
	Interval time.Duration
	// Now is the clock.
	Now func() time.Time
}

// Version is a fetched registry. It is immutable.
type Version struct {
	*edition.Edition
	hash [sha256.Size]byte
	data []byte
}

// ID identifies the version in messages.
func (v *Version) ID() string { return hex.EncodeToString(v.hash[:8]) }

// equal reports whether two versions, which may be nil, have the same content.
func (v *Version) equal(o *Version) bool { return v == o || v != nil && o != nil && v.hash == o.hash }

// User is a configuration with a registry.
type User struct {
	// Changed is called after a possible change of the version. It must not wait for the
	// feed.
	Changed func()
	// Only the first user's fields below are used, so that each message is sent once.
	Logger  *zap.Logger
	Tell    func(event string, data map[string]any) // nil sends no events
	Storage remote.Storage                          // nil stores nothing
	asking  remote.Asking                           // operations on Storage
}

// Feed is a registry at a file or URL. It lives longer than a configuration and refers to no
// configuration except its users. It is safe for concurrent use.
type Feed struct {
	Settings
	source remote.Source

	reading  sync.Mutex // held during fetches and storage operations; guards the next fields
	restored bool       // the storage was read, or a version was fetched
	stored   [sha256.Size]byte
	unstored bool // the last attempt to store failed, so the next failure is not logged

	mu    sync.Mutex
	users remote.Users[User]
	load  any // last loaded configuration
	state
}

// state is the last version and the result of the last fetch.
type state struct {
	good     *Version      // the version in use, nil for none
	last     remote.Answer // without its data
	trouble  error         // error of the last attempt, or nil
	failing  time.Time     // start of the errors
	invalid  error         // error in the last response, or nil
	reported bool          // the trouble was logged
	failures int           // in a row
	checked  time.Time     // when good was last confirmed as current
	next     time.Time     // the next fetch
}

// New returns a Feed without fetching.
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

// Trouble returns the error of the last attempt, or nil.
func (f *Feed) Trouble() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.trouble
}

// Use adds a user until release is called. It reports an error that was not reported yet.
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

// Load fetches the registry for a new configuration. config identifies the configuration and
// must be comparable. If no version is known, Load reads storage first, which can be nil. The
// result is in Good and Trouble. Load returns when ctx ends.
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

// Run fetches the registry when due until ctx ends. It stores new versions in the storage of
// its users.
func (f *Feed) Run(ctx context.Context) { remote.Run(ctx, f.step) }

// step fetches and stores if due. It returns the time until the next fetch.
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

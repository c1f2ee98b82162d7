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
	"github.com/robotsguard/caddy-robots-guard/uaident/registryfile"
)

// Settings say where a registry is.
type Settings struct {
	// Location is a file, or a URL of http or https.
	Location string
	// Interval is the time between fetches. Zero means two seconds for a file, and the
	// freshness lifetime of the response for a URL.
	Interval time.Duration
	// Now is the clock.
	Now func() time.Time
}

// Version is a fetched registry. It is immutable.
type Version struct {
	*registryfile.File
	hash [sha256.Size]byte
	data []byte
}

// ID identifies the version in messages.
func (v *Version) ID() string { return hex.EncodeToString(v.hash[:8]) }

// equal reports whether two versions, which may be nil, have the same content.
func (v *Version) equal(o *Version) bool { return v == o || v != nil && o != nil && v.hash == o.hash }

// User is a configuration with a registry.
type User struct {
	// OnChange is called after a possible change of the version. It must not wait for the
	// feed.
	OnChange func()
	// Only the first user's fields below are used, so that each message is sent once.
	Logger         *zap.Logger
	SendEvent      func(event string, data map[string]any) // nil sends no events
	Storage        remote.Storage                          // nil stores nothing
	storageLimiter remote.StorageLimiter                   // operations on Storage
}

// Feed is a registry at a file or URL. It lives longer than a configuration and refers to no
// configuration except its users. It is safe for concurrent use.
type Feed struct {
	Settings
	source remote.Source

	fetchMu     sync.Mutex // held during fetches and storage operations; guards the next fields
	isRestored  bool       // the storage was read, or a version was fetched
	storedHash  [sha256.Size]byte
	storeFailed bool // the last attempt to store failed, so the next failure is not logged

	mu         sync.Mutex
	users      remote.Users[User]
	lastConfig any // last loaded configuration
	state
}

// state is the last version and the result of the last fetch.
type state struct {
	inUse         *Version      // the version in use, nil for none
	lastAnswer    remote.Answer // without its data
	lastErr       error         // error of the last attempt, or nil
	failingSince  time.Time     // start of the errors
	invalidErr    error         // error in the last response, or nil
	isErrLogged   bool          // the trouble was logged
	failures      int           // in a row
	lastConfirmed time.Time     // when good was last confirmed as current
	nextFetch     time.Time     // the next fetch
}

// New returns a Feed without fetching.
func New(s Settings) (*Feed, error) {
	source, err := remote.ContentKind{Option: "registry", ContentName: "a registry", MaxBytes: registryfile.MaxBytes}.NewSource(s.Location, s.Now)
	return &Feed{Settings: s, source: source}, err
}

// Name returns the file or the URL.
func (f *Feed) Name() string { return f.source.Name() }

// IsFile reports whether the registry is a file.
func (f *Feed) IsFile() bool { return !f.source.IsURL() }

// InUse returns the version in use, nil for none.
func (f *Feed) InUse() *Version {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.inUse
}

// LastError returns the error of the last attempt, or nil.
func (f *Feed) LastError() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lastErr
}

// AddUser adds a user until release is called. It reports an error that was not reported yet.
func (f *Feed) AddUser(u *User) (release func()) {
	f.mu.Lock()
	f.users.Add(u)
	logFailure := f.failureLogger()
	f.mu.Unlock()
	logFailure()
	u.OnChange()
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
	isLoaded := f.lastConfig == config
	f.lastConfig = config
	f.mu.Unlock()
	if isLoaded || !remote.LockUntil(ctx, &f.fetchMu) {
		return
	}
	defer f.fetchMu.Unlock()
	f.restore(ctx, new(remote.StorageLimiter), storage)
	f.fetch(ctx, true)
}

// Run fetches the registry when due until ctx ends. It stores new versions in the storage of
// its users.
func (f *Feed) Run(ctx context.Context) { remote.Run(ctx, f.fetchIfDue) }

// fetchIfDue fetches and stores if due. It returns the time until the next fetch.
func (f *Feed) fetchIfDue(ctx context.Context) time.Duration {
	f.fetchMu.Lock()
	defer f.fetchMu.Unlock()
	if f.untilNextFetch() <= 0 {
		f.fetch(ctx, false)
	}
	f.mu.Lock()
	user := f.users.First()
	f.mu.Unlock()
	if user != nil && user.Storage != nil && f.source.IsURL() {
		f.restore(ctx, &user.storageLimiter, user.Storage)
		f.store(ctx, user)
	}
	return f.untilNextFetch()
}

// untilNextFetch returns the time until the next fetch.
func (f *Feed) untilNextFetch() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.nextFetch.Sub(f.Now())
}

// Package registry knows the registry of crawlers that a configuration names beside the
// built-in one: where it is, which text of it is in use, and which waits for the owner,
// since it says what nobody would expect of a newer one.
package registry

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
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
	// Key is by whom it has to be signed; nil if it need not be.
	Key ed25519.PublicKey
	// Interval is how often it is read; 0 for as often as its server says, and for a file
	// every two seconds.
	Interval time.Duration
	// Now is the clock.
	Now func() time.Time
}

// Text is a registry as it was read. It is immutable.
type Text struct {
	*edition.Edition
	hash            [sha256.Size]byte
	data, signature []byte // to be stored
}

// ID is by what the owner names a text.
func (t *Text) ID() string { return hex.EncodeToString(t.hash[:8]) }

// equal reports whether two texts are the same.
func (t *Text) equal(o *Text) bool { return t == o || t != nil && o != nil && t.hash == o.hash }

// User is a configuration, for which a registry is read.
type User struct {
	// Changed is called when another text may be in use. It must not wait for the feed.
	Changed func()
	// What follows is used of the first user alone, so that the owner is told once.
	Logger  *zap.Logger
	Tell    func(event string, data map[string]any) // nil for nobody
	Storage remote.Storage                          // nil for none
	asking  remote.Asking                           // that storage
}

// Feed is a registry at a file or a URL. It outlives a configuration, and keeps nothing
// of one but its users.
type Feed struct {
	Settings
	source, signature remote.Source // signature is nil without a key

	reading sync.Mutex // held while the registry is read or kept
	stored  bool       // whether it was looked what is stored
	kept    [sha256.Size]byte
	unkept  bool // the last attempt has failed, so the next failure is no news

	mu       sync.Mutex
	users    remote.Users[User]
	loads    any  // the load of a configuration for which it was read last
	unseen   bool // the storage has failed when it was looked what is stored, and is asked again
	accepted bool // the owner has accepted a text since
	state
}

// state is what is known of a registry.
type state struct {
	good     *Text    // nil for none
	waiting  *Text    // until it is accepted, nil for none
	why      []string // it waits
	since    time.Time
	last     remote.Answer // without its data
	trouble  error         // why there is no newer one, nil for no reason
	failing  time.Time     // since when
	wrong    error         // with the text that last stands for, nil for nothing
	told     bool          // of trouble
	asked    bool          // the owner was, to accept what waits
	failures int           // in a row
	checked  time.Time     // when good was last known to be current
	next     time.Time
}

// New returns the registry at a place. It is not read yet.
func New(s Settings) (*Feed, error) {
	kind := remote.Kind{Option: "registry", Text: "a registry", Max: edition.MaxBytes}
	f := &Feed{Settings: s}
	var err error
	if f.source, err = kind.New(s.Place, s.Now); err != nil || s.Key == nil {
		return f, err
	}
	kind = remote.Kind{Option: "registry", Text: "a signature", Max: 1 << 10}
	f.signature, err = kind.New(edition.SignaturePlace(s.Place), s.Now)
	return f, err
}

// Name is what messages call the registry.
func (f *Feed) Name() string { return f.source.Name() }

// IsFile reports whether the registry is on this machine.
func (f *Feed) IsFile() bool { return !f.source.IsURL() }

// Good returns the text in use, nil for none.
func (f *Feed) Good() *Text {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.good
}

// Trouble returns why there is no newer text, nil for no reason.
func (f *Feed) Trouble() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.trouble
}

// Use begins to tell a user, until release is called, first of what nobody was told yet.
func (f *Feed) Use(u *User) (release func()) {
	f.mu.Lock()
	f.users.Add(u)
	tells := []func(){f.tellTrouble(), f.tellWaiting()}
	f.mu.Unlock()
	for _, tell := range tells {
		tell()
	}
	u.Changed()
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.users.Remove(u)
	}
}

// Load reads the registry for a configuration that is being loaded: of two loads the
// values of by differ, which can be compared. Where nothing is known yet of one at a URL,
// it looks in the storage first, which may be nil. What has come of it tell Good and
// Trouble. It waits no longer than ctx lasts, also for who reads it already.
func (f *Feed) Load(ctx context.Context, by any, storage remote.Storage) {
	f.mu.Lock()
	again := f.loads == by
	f.loads = by
	f.mu.Unlock()
	if again || !remote.LockUntil(ctx, &f.reading) {
		return
	}
	defer f.reading.Unlock()
	if !f.stored && f.source.IsURL() && storage != nil && f.Good() == nil {
		f.stored = true
		f.restore(ctx, storage)
	}
	f.read(ctx, f.IsFile())
	f.ask()
}

// errNotWaiting is in the error for an id that is not that of a text that waits.
var errNotWaiting = errors.New("no such text waits")

// Accept takes the text with this id into use, which waits, and stores it. The log keeps who wanted
// that, "" where it is not known.
func (f *Feed) Accept(id, who string) error {
	f.mu.Lock()
	t := f.waiting
	if t == nil || t.ID() != id {
		f.mu.Unlock()
		return fmt.Errorf("%s: %w: %s", f.Name(), errNotWaiting, id)
	}
	user := f.users.First()
	f.accepted = f.unseen
	f.take(t)
	if user != nil {
		user.Logger.Info("a text of the registry was accepted", zap.String("registry", f.Name()), zap.String("id", id), zap.String("who", who))
	}
	if f.IsFile() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), acceptTime)
	defer cancel()
	if remote.LockUntil(ctx, &f.reading) { // else it is stored once it was read
		defer f.reading.Unlock()
		if !f.isUnseen() {
			f.keep(ctx)
		}
	}
	return nil
}

// acceptTime is how long one who accepts a text waits until it is stored.
const acceptTime = 5 * time.Second

package rulelist

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/remote"
)

// Version is what a list said at a time. It is immutable.
type Version struct {
	Rules []Rule
	hash  [sha256.Size]byte
	data  []byte // as it was read, to be stored
}

// texts are what is read.
var texts = remote.Kind{Option: "rules", Text: "a list", Max: maxBytes}

// User is a site of a configuration, for which a list is read.
type User struct {
	// Changed is called when the list has another version. It must not wait.
	Changed func()
	// What follows is used of the first user alone, so that the owner is told once.
	Logger  *zap.Logger
	Failed  func() // counts that the list could not be read or used
	Storage remote.Storage
	asking  remote.Asking // that storage
}

// List is a list of rules at a file or a URL. It outlives a configuration, and keeps
// nothing of one but its users.
type List struct {
	source remote.Source
	now    func() time.Time

	reading sync.Mutex // held while the list is read or kept
	looked  bool       // what is stored, also if the storage has failed
	kept    [sha256.Size]byte
	unkept  bool // the last attempt has failed, so the next failure is no news

	mu     sync.Mutex
	users  remote.Users[User]
	loads  any  // the load of a configuration for which it was read last
	unseen bool // it is not known what is stored, and the storage is asked again
	state
}

// state is what is known of a list.
type state struct {
	good     *Version      // nil for none
	waiting  *Version      // has lost too much, nil for none
	proposed *Version      // the same, once the users were told
	offered  time.Time     // the first of these
	offers   int           // how many of late
	last     remote.Answer // without its data
	wrong    trouble       // with the last answer
	unread   trouble       // why there is no newer one
	told     kind          // what the owner knows of these
	failures int           // in a row
	next     time.Time
}

// kind is what is wrong with a list.
type kind uint8

const (
	fine kind = iota
	unreadable
	unusable
	shrunk
)

// trouble says what is wrong with a list.
type trouble struct {
	kind kind
	err  error
}

// New returns the list at a place: a file, or a URL of http or https. It is not read
// yet.
func New(place string, now func() time.Time) (*List, error) {
	source, err := texts.New(place, now)
	if err != nil {
		return nil, err
	}
	return newList(source, now), nil
}

func newList(source remote.Source, now func() time.Time) *List {
	return &List{source: source, now: now, unseen: source.IsURL()}
}

// Name is what messages call the list.
func (l *List) Name() string { return l.source.Name() }

// IsFile reports whether the list is on this machine.
func (l *List) IsFile() bool { return !l.source.IsURL() }

// Good returns the version in use, nil for none.
func (l *List) Good() *Version {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.good
}

// Trouble returns what is wrong with the list now, nil for nothing.
func (l *List) Trouble() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.trouble().err
}

// trouble returns the most important trouble. l.mu must be held.
func (l *List) trouble() trouble {
	if l.unread.kind != fine {
		return l.unread
	}
	return l.wrong
}

// Use begins to tell a user, until release is called.
func (l *List) Use(u *User) (release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.users.Add(u)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.users.Remove(u)
	}
}

// Load reads the list for a configuration that is being loaded, once for all of its
// sites: of two loads the values of by differ, which can be compared. Where a list at a URL
// was never read yet, it looks in the storage first. What has come of it
// tell Wanted and Trouble. It waits no longer than ctx lasts, also for who reads it already.
func (l *List) Load(ctx context.Context, by any, storage remote.Storage) {
	l.mu.Lock()
	again := l.loads == by
	l.loads = by
	l.mu.Unlock()
	if again || !remote.LockUntil(ctx, &l.reading) {
		return
	}
	defer l.reading.Unlock()
	if l.isUnseen() && storage != nil && l.isNew() { // else Run looks, and tells all users
		l.restore(ctx, new(remote.Asking), storage)
	}
	l.read(ctx)
}

// isNew reports whether nobody has tried to read the list yet.
func (l *List) isNew() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next.IsZero()
}

// read reads the list. l.reading must be held.
func (l *List) read(ctx context.Context) {
	l.mu.Lock()
	before := l.last
	l.mu.Unlock()
	a, err := l.source.Read(ctx, before)
	if ctx.Err() != nil && err != nil && context.Cause(ctx) == context.Canceled {
		return // says nothing about the list
	}
	var v *Version
	if err == nil && !a.Unchanged {
		v, err = l.parse(a.Data)
		l.note(a, trouble{unusable, err}, v)
		return
	}
	if err != nil {
		l.failed(a, err)
		return
	}
	l.mu.Lock()
	wrong := l.wrong
	l.mu.Unlock()
	l.note(a, wrong, v)
}

func (l *List) parse(data []byte) (*Version, error) {
	rules, err := parse(l.source.Name(), data)
	if err != nil {
		return nil, err
	}
	v := &Version{Rules: rules, hash: sha256.Sum256(data)}
	if l.source.IsURL() {
		v.data = data
	}
	return v, nil
}

// note takes an answer: v is what it says, nil if that is as before or wrong.
func (l *List) note(a remote.Answer, wrong trouble, v *Version) {
	l.mu.Lock()
	l.unread, l.failures = trouble{}, 0
	if wrong.err == nil {
		wrong = trouble{}
	}
	l.wrong = wrong
	l.last = a
	l.last.Data = nil
	l.next = l.now().Add(remote.Sooner(a.Life))
	changed := false
	if v == nil {
		changed = l.propose()
	} else {
		changed = l.take(v)
	}
	l.tell(changed, !a.Unchanged)
}

// take takes what the list says beside what is in use, and reports whether the users are
// to be told. l.mu must be held.
func (l *List) take(v *Version) (changed bool) {
	switch {
	case l.good.equal(v):
		changed = l.proposed != nil
		l.waiting, l.proposed = nil, nil
		return changed
	case l.good.losesMuch(v, l.now()):
		l.waiting = v
		l.wrong = trouble{shrunk, fmt.Errorf("%s; what it said before stays until somebody confirms it: caddy robots-guard managed confirm", l.loss())}
		return l.propose()
	}
	l.good, l.waiting, l.proposed = v, nil, nil
	return true
}

// failed takes that the list could not be read.
func (l *List) failed(a remote.Answer, err error) {
	l.mu.Lock()
	l.unread = trouble{unreadable, err}
	wait := a.Life
	if l.source.IsURL() {
		wait = remote.Retry(l.failures, wait)
	}
	l.failures++
	l.next = l.now().Add(remote.Sooner(wait))
	l.tell(false, l.source.IsURL())
}

// tell tells the users that the list has changed, and the owner if there is trouble
// or none any more. Trouble with something that was not looked at before is counted.
// l.mu must be held; it is released.
func (l *List) tell(changed, isNew bool) {
	t, before, good := l.trouble(), l.told, l.good
	l.told = t.kind
	users := l.users.All()
	if len(users) == 0 {
		l.told = before // nobody was told
	}
	l.mu.Unlock()
	for i, u := range users {
		if i == 0 && t.kind != fine && (isNew || t.kind != before) {
			u.Failed()
		}
		if i == 0 && t.kind != before {
			u.log(l.source.Name(), t, good)
		}
		if changed {
			u.Changed()
		}
	}
}

// log tells the owner of trouble, or that it is over.
func (u *User) log(name string, t trouble, good *Version) {
	log := u.Logger.With(zap.String("rules", name))
	stays := "what it said before stays in force"
	if good == nil {
		stays = "there is none from before, so its rules are not in force"
	}
	switch t.kind {
	case fine:
		log.Info("a list of rules can be used again")
	case unreadable:
		log.Warn("a list of rules cannot be read; "+stays, zap.Error(t.err))
	case unusable:
		log.Warn("a list of rules cannot be used; "+stays, zap.Error(t.err))
	case shrunk:
		log.Warn("a list of rules waits for confirmation; "+stays, zap.Error(t.err))
	}
}

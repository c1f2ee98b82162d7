package rulelist

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/remote"
)

// Version is what a list said at a time. It is immutable.
type Version struct {
	Rules []Rule
	hash  [sha256.Size]byte
}

// kind is what a list is read as.
var kind = remote.Kind{Option: "rules", Text: "a list", Max: maxBytes}

// User is a site of a configuration, for which a list is read.
type User struct {
	// Changed is called when the list has another version. It must not wait.
	Changed func()
	// The fields below are used of the first user only, so that each message is logged once.
	Logger *zap.Logger
	Failed func() // counts that the list could not be read or used
}

// List is a list of rules at a file or a URL. It outlives a configuration, and keeps
// nothing of one but its users. It is not stored: what is published of its rules is in the
// history of each site.
type List struct {
	source remote.Source
	now    func() time.Time

	reading sync.Mutex // held while the list is read

	mu       sync.Mutex // guards what follows
	users    remote.Users[User]
	loads    any           // the load of a configuration for which it was read last
	good     *Version      // nil for none
	last     remote.Answer // without its data
	wrong    error         // with the last answer
	unread   error         // why there is no newer answer
	logged   string        // the trouble that the owner knows of
	failures int           // in a row
	next     time.Time     // when it is read again
}

// New returns the list at a place: a file, or a URL of http or https. It is not read
// yet.
func New(place string, now func() time.Time) (*List, error) {
	source, err := kind.New(place, now)
	if err != nil {
		return nil, err
	}
	return newList(source, now), nil
}

func newList(source remote.Source, now func() time.Time) *List {
	return &List{source: source, now: now}
}

// Name is what messages call the list.
func (l *List) Name() string { return l.source.Name() }

// IsFile reports whether the list is on this machine.
func (l *List) IsFile() bool { return !l.source.IsURL() }

// Good returns the last version that could be used, nil for none.
func (l *List) Good() *Version {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.good
}

// Trouble returns why the list cannot be read or used now, nil if it can.
func (l *List) Trouble() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unread != nil {
		return l.unread
	}
	return l.wrong
}

// isInvalid reports whether the list was read, and what was read last is no list.
func (l *List) isInvalid() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unread == nil && l.wrong != nil
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
// sites: of two loads the values of by differ, which can be compared. [List.Good] and
// [List.Trouble] return the result. Load waits no longer than ctx lasts, also for another
// read that is under way.
func (l *List) Load(ctx context.Context, by any) {
	l.mu.Lock()
	again := l.loads == by
	l.loads = by
	l.mu.Unlock()
	if again || !remote.LockUntil(ctx, &l.reading) {
		return
	}
	defer l.reading.Unlock()
	l.read(ctx)
}

// Run reads the list whenever that is due, until ctx ends.
func (l *List) Run(ctx context.Context) {
	remote.Run(ctx, func(ctx context.Context) time.Duration {
		l.reading.Lock()
		defer l.reading.Unlock()
		if l.untilDue() <= 0 {
			l.read(ctx)
		}
		return l.untilDue()
	})
}

// untilDue returns how long it is until the list is to be read again.
func (l *List) untilDue() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next.Sub(l.now())
}

// read reads the list. l.reading must be held.
func (l *List) read(ctx context.Context) {
	l.mu.Lock()
	before := l.last
	l.mu.Unlock()
	answer, err := l.source.Read(ctx, before)
	switch {
	case ctx.Err() != nil && err != nil && context.Cause(ctx) == context.Canceled:
		// It says nothing about the list.
	case err != nil:
		l.failed(answer, err)
	case answer.Unchanged:
		l.answered(answer, nil, nil)
	default:
		rules, err := parse(l.source.Name(), answer.Data)
		l.answered(answer, &Version{Rules: rules, hash: sha256.Sum256(answer.Data)}, err)
	}
}

// answered takes an answer with what it says, nil if it is as before, or what is wrong
// with it.
func (l *List) answered(answer remote.Answer, v *Version, wrong error) {
	l.mu.Lock()
	l.unread, l.failures = nil, 0
	l.last = answer
	l.last.Data = nil
	l.next = l.now().Add(remote.Sooner(answer.Life))
	changed := false
	if v != nil {
		if l.wrong = wrong; wrong == nil && !l.good.equal(v) {
			l.good, changed = v, true
		}
	}
	l.tell(changed, v != nil)
}

// failed takes that the list could not be read.
func (l *List) failed(answer remote.Answer, err error) {
	l.mu.Lock()
	l.unread = err
	wait := answer.Life
	if l.source.IsURL() {
		wait = remote.Retry(l.failures, wait)
	}
	l.failures++
	l.next = l.now().Add(remote.Sooner(wait))
	l.tell(false, l.source.IsURL())
}

// tell tells the users that the list has changed, and the owner if there is trouble
// or none any more. It counts trouble with something that was not looked at before.
// l.mu must be held; it is released.
func (l *List) tell(changed, isNew bool) {
	message, err := "", l.unread
	switch {
	case l.unread != nil:
		message = "a list of rules cannot be read"
	case l.wrong != nil:
		message, err = "a list of rules cannot be used", l.wrong
	}
	users, before, good := l.users.All(), l.logged, l.good
	if len(users) > 0 {
		l.logged = message
	}
	l.mu.Unlock()
	for i, u := range users {
		if i == 0 && err != nil && (isNew || message != before) {
			u.Failed()
		}
		if i == 0 && message != before {
			u.log(l.source.Name(), message, err, good)
		}
		if changed {
			u.Changed()
		}
	}
}

// log tells the owner of trouble, or that it is over.
func (u *User) log(name, message string, err error, good *Version) {
	log := u.Logger.With(zap.String("rules", name))
	switch {
	case err == nil:
		log.Info("a list of rules can be used again")
	case good == nil:
		log.Warn(message+"; the published file stays in force until then, or without one, the rules of the list are missing", zap.Error(err))
	default:
		log.Warn(message+"; the previous list stays in force", zap.Error(err))
	}
}

// equal reports whether two versions say the same.
func (v *Version) equal(o *Version) bool {
	return v == o || v != nil && o != nil && v.hash == o.hash
}

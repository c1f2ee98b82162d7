package rulelist

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/remote"
)

// Version is one fetched version of a list. It is immutable.
type Version struct {
	Rules []managed.Rule
	hash  [sha256.Size]byte
}

// kind describes a list for package remote.
var kind = remote.ContentKind{Option: "rules", ContentName: "a list", MaxBytes: maxBytes}

// User is a site that uses a list.
type User struct {
	// Changed is called after the list has changed. It must not block.
	Changed func()
	// Only the fields below of the first user are used, so that each message is logged once.
	Logger *zap.Logger
	Failed func() // counts failed reads and invalid lists
}

// List is a list of rules in a file or at a URL. It outlives a configuration, and refers to a
// configuration only through its users. It is not stored, because the history of each site has the
// published rules.
type List struct {
	source remote.Source
	now    func() time.Time

	reading sync.Mutex // serializes reads

	mu       sync.Mutex // guards the fields below
	users    remote.Users[User]
	loads    any           // the last configuration load that read the list
	good     *Version      // last good version, or nil
	last     remote.Answer // without its data
	wrong    error         // error in the content of last
	unread   error         // error of the last read, or nil
	logged   string        // last logged message
	failures int           // consecutive failures
	next     time.Time     // time of the next read
}

// New returns the list in a file or at an HTTP or HTTPS URL. It does not read the list.
func New(place string, now func() time.Time) (*List, error) {
	source, err := kind.NewSource(place, now)
	if err != nil {
		return nil, err
	}
	return newList(source, now), nil
}

func newList(source remote.Source, now func() time.Time) *List {
	return &List{source: source, now: now}
}

// Name returns the name of the list for messages.
func (l *List) Name() string { return l.source.Name() }

// IsFile reports whether the list is on this machine.
func (l *List) IsFile() bool { return !l.source.IsURL() }

// Good returns the last good version, or nil.
func (l *List) Good() *Version {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.good
}

// Trouble returns the reason why the list cannot be read or used now, or nil.
func (l *List) Trouble() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unread != nil {
		return l.unread
	}
	return l.wrong
}

// isInvalid reports whether the last read succeeded but returned an invalid list.
func (l *List) isInvalid() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unread == nil && l.wrong != nil
}

// Use adds a user until release is called.
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

// Load reads the list while a configuration is loaded. Repeated calls with the same by read the list
// once. by must be comparable. [List.Good] and [List.Trouble] return the result. Load returns when
// ctx ends, even if another read runs.
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

// Run reads the list when a read is due, until ctx ends.
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

// untilDue returns the time until the next read.
func (l *List) untilDue() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next.Sub(l.now())
}

// read reads the list. The caller must hold l.reading.
func (l *List) read(ctx context.Context) {
	l.mu.Lock()
	before := l.last
	l.mu.Unlock()
	answer, err := l.source.Read(ctx, before)
	switch {
	case ctx.Err() != nil && err != nil && context.Cause(ctx) == context.Canceled:
		// The read was canceled, which is no failure of the list.
	case err != nil:
		l.failed(answer, err)
	case answer.Unchanged:
		l.answered(answer, nil, nil)
	default:
		rules, err := parse(l.source.Name(), answer.Data)
		l.answered(answer, &Version{Rules: rules, hash: sha256.Sum256(answer.Data)}, err)
	}
}

// answered records a successful read. v is nil if the content has not changed. wrong is the error in
// the content.
func (l *List) answered(answer remote.Answer, v *Version, wrong error) {
	l.mu.Lock()
	l.unread, l.failures = nil, 0
	l.last = answer
	l.last.Data = nil
	l.next = l.now().Add(remote.Jitter(answer.Lifetime))
	changed := false
	if v != nil {
		if l.wrong = wrong; wrong == nil && !l.good.equal(v) {
			l.good, changed = v, true
		}
	}
	l.tell(changed, v != nil)
}

// failed records a failed read.
func (l *List) failed(answer remote.Answer, err error) {
	l.mu.Lock()
	l.unread = err
	wait := answer.Lifetime
	if l.source.IsURL() {
		wait = remote.RetryDelay(l.failures, wait)
	}
	l.failures++
	l.next = l.now().Add(remote.Jitter(wait))
	l.tell(false, l.source.IsURL())
}

// tell notifies the users of a change, and logs a new problem or the recovery. isNew means that a
// problem is counted even if it was logged before. The caller must hold l.mu, which tell unlocks.
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

// log logs a problem or the recovery.
func (u *User) log(name, message string, err error, good *Version) {
	log := u.Logger.With(zap.String("rules", name))
	switch {
	case err == nil:
		log.Info("a list of rules can be used again")
	case good == nil:
		log.Warn(message+"; the published file stays in force, or without one, the rules of the list are missing", zap.Error(err))
	default:
		log.Warn(message+"; the previous list stays in force", zap.Error(err))
	}
}

// equal reports whether two versions have the same content.
func (v *Version) equal(o *Version) bool {
	return v == o || v != nil && o != nil && v.hash == o.hash
}

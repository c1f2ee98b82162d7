package registry

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/remote"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/edition"
)

// read reads the registry. owned is whether it is the owner who has it read: what a file
// says when a configuration is loaded is his word. f.reading must be held.
func (f *Feed) read(ctx context.Context, owned bool) {
	f.mu.Lock()
	before := f.last
	f.mu.Unlock()
	if owned {
		before = remote.Answer{} // also what waits is read anew
	}
	a, err := f.source.Read(ctx, before)
	if ctx.Err() != nil && err != nil && errors.Is(context.Cause(ctx), context.Canceled) {
		return // says nothing about the registry
	}
	if err != nil || a.Unchanged {
		f.note(a, nil, err, owned)
		return
	}
	t, err := f.parse(ctx, a.Data)
	if errors.Is(err, errUnsigned) {
		a.ETag, a.LastModified, a.Life = "", "", 0 // the signature may come later
	}
	f.note(a, t, err, owned)
}

// errUnsigned is in the error for a text whose signature is not there or another's.
var errUnsigned = errors.New("it is not used")

// parse reads a text and looks whether it may be used at all.
func (f *Feed) parse(ctx context.Context, data []byte) (*Text, error) {
	t := &Text{hash: sha256.Sum256(data), data: data}
	if f.signature != nil {
		a, err := f.signature.Read(ctx, remote.Answer{})
		if err == nil {
			if err = edition.Verify(f.Key, data, a.Data); err != nil {
				err = fmt.Errorf("%s: %w", f.signature.Name(), err)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s has to be signed, and %w: %w", f.Name(), errUnsigned, err)
		}
		t.signature = a.Data
	}
	return t, f.understand(t)
}

// understand reads what a text says, whose signature counts.
func (f *Feed) understand(t *Text) (err error) {
	if t.Edition, err = edition.Parse(f.Name(), t.data); err != nil {
		return err
	}
	known, err := t.Over(uaident.Default())
	if err == nil {
		err = Usable(known)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	if f.Key == nil {
		return nil
	}
	good := f.Good()
	switch {
	case t.Serial == 0:
		return fmt.Errorf("%s: it is signed and has no serial, so that an older one could be passed off as this one; add one, counted up with each edition", f.Name())
	case good == nil || good.equal(t):
	case t.Serial < good.Serial:
		return fmt.Errorf("%s: its serial is %d, and one with serial %d is in use already; an older edition is never used again", f.Name(), t.Serial, good.Serial)
	case t.Serial == good.Serial:
		return fmt.Errorf("%s: its serial is %d, and so is that of the one in use, which says something else; count it up", f.Name(), t.Serial)
	}
	return nil
}

// note takes what came of reading: t is what it says, nil if that is as before or wrong.
func (f *Feed) note(a remote.Answer, t *Text, err error, owned bool) {
	f.mu.Lock()
	now := f.Now()
	life := a.Life
	if f.Interval > 0 && (err == nil || a.Data != nil && !errors.Is(err, errUnsigned)) {
		life = f.Interval
	}
	if a.Data != nil || a.Unchanged {
		f.last = a
		f.last.Data = nil
	}
	if a.Data != nil {
		f.wrong = err
	}
	if err != nil {
		f.failed(err, life)
		return
	}
	f.next = now.Add(remote.Sooner(life))
	if a.Unchanged && f.wrong != nil {
		f.trouble = f.wrong // what is there is as wrong as it was
		f.mu.Unlock()
		return
	}
	f.recovered(now)
	switch {
	case t == nil, t.equal(f.waiting) && !owned:
	case t.equal(f.good):
		f.waiting, f.why = nil, nil
	default:
		if why := f.suspicions(t); len(why) > 0 && !owned {
			f.hold(t, why, now)
			return
		}
		f.take(t)
		return
	}
	f.mu.Unlock()
}

// suspicions returns why a text waits, none if it does not. f.mu must be held.
func (f *Feed) suspicions(t *Text) []string {
	var before *edition.Edition
	if f.good != nil {
		before = f.good.Edition
	}
	return suspicionsOf(before, t.Edition)
}

// recovered takes note that the registry was read. f.mu must be held.
func (f *Feed) recovered(now time.Time) {
	f.checked = now
	if f.told {
		if u := f.users.First(); u != nil {
			u.Logger.Info("the registry can be used again", zap.String("registry", f.Name()))
		}
	}
	f.trouble, f.failures, f.told = nil, 0, false
}

// failed takes note that there is no newer text. f.mu must be held; it is released.
func (f *Feed) failed(err error, wait time.Duration) {
	now := f.Now()
	if f.trouble == nil {
		f.failing = now
	}
	f.trouble = err
	if f.source.IsURL() {
		wait = remote.Retry(f.failures, wait)
	}
	f.failures++
	f.next = now.Add(remote.Sooner(max(wait, remote.LookEvery)))
	tell := f.tellTrouble()
	f.mu.Unlock()
	tell()
}

// tellTrouble returns what tells the owner of trouble, once. f.mu must be held, and not
// for what is returned.
func (f *Feed) tellTrouble() func() {
	u, err := f.users.First(), f.trouble
	if u == nil || err == nil || f.told {
		return func() {}
	}
	f.told = true
	stays := "what it said before stays in force"
	if f.good == nil {
		stays = "the built-in one is in force alone"
	}
	return func() {
		u.Logger.Warn("the registry cannot be used; "+stays, zap.String("registry", f.Name()), zap.Error(err))
		u.tell("robots_registry_failing", map[string]any{"registry": f.Name(), "error": err.Error()})
	}
}

// hold lets a text wait, for which [Feed.ask] asks if it does not wait already. f.mu must be
// held; it is released.
func (f *Feed) hold(t *Text, why []string, now time.Time) {
	if !t.equal(f.waiting) {
		f.since, f.asked = now, false
	}
	f.waiting, f.why = t, why
	f.mu.Unlock()
}

// ask asks the owner to accept a text that waits, once.
func (f *Feed) ask() {
	f.mu.Lock()
	tell := f.tellWaiting()
	f.mu.Unlock()
	tell()
}

// tellWaiting returns what asks the owner to accept a text, once. f.mu must be held, and
// not for what is returned.
func (f *Feed) tellWaiting() func() {
	u, t, why := f.users.First(), f.waiting, f.why
	if u == nil || t == nil || f.asked {
		return func() {}
	}
	f.asked = true
	return func() {
		u.Logger.Warn("a new text of the registry waits until it is accepted; what it said before stays in force",
			zap.String("registry", f.Name()), zap.String("id", t.ID()), zap.Strings("why", why), zap.String("accept", "caddy robots-guard registry accept "+t.ID()))
		u.tell("robots_registry_waiting", map[string]any{"registry": f.Name(), "id": t.ID(), "why": why})
	}
}

// take takes a text into use. f.mu must be held; it is released.
func (f *Feed) take(t *Text) {
	before := f.good
	f.good, f.waiting, f.why = t, nil, nil
	users := f.users.All()
	f.mu.Unlock()
	if len(users) > 0 {
		var old []uaident.Crawler
		if before != nil {
			old = before.Crawlers
		}
		changes := edition.Diff(old, t.Crawlers)
		users[0].Logger.Info("another text of the registry is in use",
			zap.String("registry", f.Name()), zap.String("id", t.ID()), zap.Uint64("serial", t.Serial), zap.Int("crawlers", len(t.Crawlers)), zap.Int("changes", len(changes)))
		users[0].tell("robots_registry_changed", map[string]any{"registry": f.Name(), "id": t.ID(), "crawlers": len(t.Crawlers), "changes": len(changes)})
	}
	for _, u := range users {
		u.Changed()
	}
}

func (u *User) tell(event string, data map[string]any) {
	if u.Tell != nil {
		u.Tell(event, data)
	}
}

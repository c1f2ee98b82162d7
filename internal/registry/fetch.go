package registry

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/identity"
	"github.com/robotsguard/caddy-robots-guard/internal/remote"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/edition"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// fetch fetches the registry. loading means that a configuration is being loaded. The
// plausibility check is then skipped, so that the owner can use any valid version. f.reading
// must be held.
func (f *Feed) fetch(ctx context.Context, loading bool) {
	f.mu.Lock()
	before := f.last
	f.mu.Unlock()
	if loading {
		before = remote.Answer{} // also fetch a rejected version again
	}
	a, err := f.source.Read(ctx, before)
	if err != nil && errors.Is(context.Cause(ctx), context.Canceled) {
		return // not an error of the registry
	}
	var v *Version
	if err == nil && !a.Unchanged {
		v, err = f.parse(a.Data)
		if err == nil && !loading {
			err = f.checkPlausible(v)
		}
	}
	f.finish(a, v, err)
}

// parse parses and checks a registry.
func (f *Feed) parse(data []byte) (*Version, error) {
	e, err := edition.Parse(f.Name(), data)
	if err != nil {
		return nil, err
	}
	known, err := e.Over(uaident.Default())
	if err == nil {
		err = Usable(known)
	}
	if err == nil {
		err = checkBrowsers(known)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return &Version{e, sha256.Sum256(data), data}, nil
}

// Usable returns an error if clients cannot be verified with a registry, for example because
// two operators share a signing agent.
func Usable(r *uaident.Registry) error {
	if _, err := identity.AgentsOf(r); err != nil {
		return err
	}
	v := verify.New(verify.Options{KeepVerified: 1, KeepOthers: 1})
	defer v.Close()
	return v.Configure(verify.Config{Crawlers: r.Crawlers(), Ranges: true, ReverseDNS: true})
}

// checkBrowsers returns an error if a registry identifies a common browser as a crawler.
func checkBrowsers(r *uaident.Registry) error {
	for _, userAgent := range browsers {
		if id := r.Identify(userAgent); id.Class != uaident.Browser {
			return fmt.Errorf("%s would match the browser %q; remove that name", id.Name(), userAgent)
		}
	}
	return nil
}

// checkPlausible returns an error if a version lacks more than half of the entries in use,
// and more than one.
func (f *Feed) checkPlausible(v *Version) error {
	before := f.Good()
	if before == nil {
		return nil
	}
	lost := 0
	for _, change := range edition.Diff(before.Crawlers, v.Crawlers) {
		if change.Kind == edition.Removed {
			lost++
		}
	}
	if lost <= 1 || 2*lost <= len(before.Crawlers) {
		return nil
	}
	return fmt.Errorf("%s: it lacks %d of the %d entries of the version in use; if that is right, use it with: caddy reload --force", f.Name(), lost, len(before.Crawlers))
}

// finish records the result of a fetch. v is nil for an unchanged or invalid registry.
func (f *Feed) finish(a remote.Answer, v *Version, err error) {
	f.mu.Lock()
	now := f.Now()
	life := a.Life
	if f.Interval > 0 && (err == nil || a.Data != nil) {
		life = f.Interval
	}
	if a.Data != nil || a.Unchanged {
		f.last = a
		f.last.Data = nil
	}
	if a.Data != nil {
		f.invalid = err
	}
	if err != nil {
		f.failed(err, life)
		return
	}
	f.next = now.Add(remote.Sooner(life))
	if a.Unchanged && f.invalid != nil {
		f.trouble = f.invalid
		f.mu.Unlock()
		return
	}
	f.recovered(now)
	if v == nil || v.equal(f.good) {
		f.mu.Unlock()
		return
	}
	f.use(v)
}

// recovered records a successful fetch. f.mu must be held.
func (f *Feed) recovered(now time.Time) {
	f.checked = now
	if u := f.users.First(); u != nil && f.reported {
		u.Logger.Info("the registry can be used again", zap.String("registry", f.Name()))
	}
	f.trouble, f.failures, f.reported = nil, 0, false
}

// failed records an error and unlocks f.mu, which must be held.
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
	report := f.reportTrouble()
	f.mu.Unlock()
	report()
}

// reportTrouble returns a function that logs the error once. f.mu must be held here, but not
// during the call of that function.
func (f *Feed) reportTrouble() func() {
	u, err := f.users.First(), f.trouble
	if u == nil || err == nil || f.reported {
		return func() {}
	}
	f.reported = true
	meanwhile := "the previous version stays in use"
	if f.good == nil {
		meanwhile = "only the built-in one is in use"
	}
	return func() {
		u.Logger.Warn("the registry cannot be used; "+meanwhile, zap.String("registry", f.Name()), zap.Error(err))
		u.tell("robots_registry_failing", map[string]any{"registry": f.Name(), "error": err.Error()})
	}
}

// use puts a version into use and unlocks f.mu, which must be held.
func (f *Feed) use(v *Version) {
	var before []uaident.Crawler
	if f.good != nil {
		before = f.good.Crawlers
	}
	f.good = v
	users := f.users.All()
	f.mu.Unlock()
	if len(users) > 0 {
		changes := edition.Diff(before, v.Crawlers)
		users[0].Logger.Info("a new version of the registry is in use",
			zap.String("registry", f.Name()), zap.String("id", v.ID()), zap.Int("crawlers", len(v.Crawlers)), zap.Int("changes", len(changes)))
		users[0].tell("robots_registry_changed", map[string]any{"registry": f.Name(), "id": v.ID(), "crawlers": len(v.Crawlers), "changes": len(changes)})
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

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
	"github.com/robotsguard/caddy-robots-guard/uaident/registryfile"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// fetch fetches the registry. isConfigLoad means that a configuration is being loaded. The
// plausibility check is then skipped, so that the owner can use any valid version. f.fetchMu
// must be held.
func (f *Feed) fetch(ctx context.Context, isConfigLoad bool) {
	f.mu.Lock()
	previous := f.lastAnswer
	f.mu.Unlock()
	if isConfigLoad {
		previous = remote.Answer{} // also fetch a rejected version again
	}
	answer, err := f.source.Read(ctx, previous)
	if err != nil && errors.Is(context.Cause(ctx), context.Canceled) {
		return // not an error of the registry
	}
	var version *Version
	if err == nil && !answer.Unchanged {
		version, err = f.parse(answer.Data)
		if err == nil && !isConfigLoad {
			err = f.checkPlausible(version)
		}
	}
	f.recordResult(answer, version, err)
}

// parse parses and checks a registry.
func (f *Feed) parse(data []byte) (*Version, error) {
	e, err := registryfile.Parse(f.Name(), data)
	if err != nil {
		return nil, err
	}
	registry, err := e.Merge(uaident.Default())
	if err == nil {
		err = CheckUsable(registry)
	}
	if err == nil {
		err = checkBrowsers(registry)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return &Version{e, sha256.Sum256(data), data}, nil
}

// CheckUsable returns an error if clients cannot be verified with a registry, for example because
// two operators share a signing agent.
func CheckUsable(r *uaident.Registry) error {
	if _, err := identity.SigningAgents(r); err != nil {
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
	current := f.InUse()
	if current == nil {
		return nil
	}
	missing := 0
	for _, change := range registryfile.Diff(current.Crawlers, v.Crawlers) {
		if change.Kind == registryfile.Removed {
			missing++
		}
	}
	if missing <= 1 || 2*missing <= len(current.Crawlers) {
		return nil
	}
	return fmt.Errorf("%s: %d of the %d entries of the version in use are missing; if this is intended, use it with: caddy reload --force", f.Name(), missing, len(current.Crawlers))
}

// recordResult records the result of a fetch. version is nil for an unchanged or invalid registry.
func (f *Feed) recordResult(answer remote.Answer, version *Version, err error) {
	f.mu.Lock()
	now := f.Now()
	lifetime := answer.Lifetime
	if f.Interval > 0 && (err == nil || answer.Data != nil) {
		lifetime = f.Interval
	}
	if answer.Data != nil || answer.Unchanged {
		f.lastAnswer = answer
		f.lastAnswer.Data = nil
	}
	if answer.Data != nil {
		f.invalidErr = err
	}
	if err != nil {
		f.recordFailure(err, lifetime)
		return
	}
	f.nextFetch = now.Add(remote.Jitter(lifetime))
	if answer.Unchanged && f.invalidErr != nil {
		f.lastErr = f.invalidErr
		f.mu.Unlock()
		return
	}
	f.recordSuccess(now)
	if version == nil || version.equal(f.inUse) {
		f.mu.Unlock()
		return
	}
	f.activate(version)
}

// recordSuccess records a successful fetch. f.mu must be held.
func (f *Feed) recordSuccess(now time.Time) {
	f.lastConfirmed = now
	if u := f.users.First(); u != nil && f.isErrLogged {
		u.Logger.Info("the registry can be used again", zap.String("registry", f.Name()))
	}
	f.lastErr, f.failures, f.isErrLogged = nil, 0, false
}

// recordFailure records an error and unlocks f.mu, which must be held.
func (f *Feed) recordFailure(err error, wait time.Duration) {
	now := f.Now()
	if f.lastErr == nil {
		f.failingSince = now
	}
	f.lastErr = err
	if f.source.IsURL() {
		wait = remote.RetryDelay(f.failures, wait)
	}
	f.failures++
	f.nextFetch = now.Add(remote.Jitter(max(wait, remote.FileCheckInterval)))
	logFailure := f.failureLogger()
	f.mu.Unlock()
	logFailure()
}

// failureLogger returns a function that logs the error once. f.mu must be held here, but not
// during the call of that function.
func (f *Feed) failureLogger() func() {
	u, err := f.users.First(), f.lastErr
	if u == nil || err == nil || f.isErrLogged {
		return func() {}
	}
	f.isErrLogged = true
	meanwhile := "the previous version stays in use"
	if f.inUse == nil {
		meanwhile = "only the built-in one is in use"
	}
	return func() {
		u.Logger.Warn("the registry cannot be used; "+meanwhile, zap.String("registry", f.Name()), zap.Error(err))
		u.sendEvent("robots_registry_failing", map[string]any{"registry": f.Name(), "error": err.Error()})
	}
}

// activate puts a version into use and unlocks f.mu, which must be held.
func (f *Feed) activate(version *Version) {
	var previous []uaident.Crawler
	if f.inUse != nil {
		previous = f.inUse.Crawlers
	}
	f.inUse = version
	users := f.users.All()
	f.mu.Unlock()
	if len(users) > 0 {
		changes := registryfile.Diff(previous, version.Crawlers)
		users[0].Logger.Info("a new version of the registry is in use",
			zap.String("registry", f.Name()), zap.String("id", version.ID()), zap.Int("crawlers", len(version.Crawlers)), zap.Int("changes", len(changes)))
		users[0].sendEvent("robots_registry_changed", map[string]any{"registry": f.Name(), "id": version.ID(), "crawlers": len(version.Crawlers), "changes": len(changes)})
	}
	for _, u := range users {
		u.OnChange()
	}
}

func (u *User) sendEvent(event string, data map[string]any) {
	if u.SendEvent != nil {
		u.SendEvent(event, data)
	}
}

// Package registry fetches the configured registry of crawlers from a file or URL, and stores
// its last good version.
package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/identity"
	"github.com/robotsguard/caddy-robots-guard/internal/remote"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/registryfile"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Settings configure the source of a registry.
type Settings struct {
	// Location is the path of a file, or an http or https URL.
	Location string
	// Interval is the time between fetches. Zero means two seconds for a file, and the
	// freshness lifetime of the response for a URL.
	Interval time.Duration
	// Clock returns the current time.
	Clock func() time.Time
}

// Version is the fetched content of a registry file. A Version is immutable.
type Version struct {
	*registryfile.File
	hash [sha256.Size]byte
	data []byte
}

// ID returns the start of the content's SHA-256 hash, which identifies the version in messages.
func (v *Version) ID() string { return hex.EncodeToString(v.hash[:8]) }

// FeedUser is a configuration that uses a Feed.
type FeedUser struct {
	// OnChange is called after the registry may have changed. OnChange must not wait for the feed.
	OnChange func()
	// The feed uses the fields below of its first user only, so that messages and events are not
	// repeated for each configuration.
	Logger         *zap.Logger
	SendEvent      func(event string, data map[string]any) // SendEvent is nil if no events are sent.
	Storage        remote.Storage                          // Storage is nil if nothing is stored.
	storageLimiter remote.StorageLimiter                   // storageLimiter limits the operations on Storage.
}

// Feed is a registry file or URL that is fetched again and again. The last good version of a URL is
// kept in the storage of the feed's users.
type Feed struct {
	*remote.Feed[Version]

	// The fields below are used only during fetches and storage operations, of which one runs at a
	// time.
	isRestored  bool // the storage was read, or a version was fetched
	storedHash  [sha256.Size]byte
	storeFailed bool // storeFailed is true if the last attempt to store failed. The next failure is then not logged.
	// restoreError is the last logged error of restoreVersion. The same error is not logged again.
	restoreError string
}

// New returns a Feed for the configured file or URL. New fetches nothing.
func New(s Settings) (*Feed, error) {
	source, err := remote.SourceSettings{OptionName: "registry", ContentName: "a registry", MaxBytes: registryfile.MaxBytes}.NewSource(s.Location, s.Clock)
	if err != nil {
		return nil, err
	}
	return newFeed(s, source), nil
}

func newFeed(s Settings, source remote.Source) *Feed {
	f := new(Feed)
	f.Feed = remote.NewFeed(remote.FeedConfig[Version]{Source: source, Now: s.Clock, Interval: s.Interval, Parse: f.parseVersion, AfterFetch: f.synchronizeStorage})
	return f
}

// AddUser adds a user until release is called. If the last fetch failed and the failure was not
// logged, AddUser logs it.
func (f *Feed) AddUser(u *FeedUser) (release func()) {
	release = f.Feed.AddUser(remoteUser{f, u})
	u.OnChange()
	return release
}

// Load fetches the registry for a new configuration. config identifies the configuration and must
// be comparable. If no version was fetched before, Load first restores the version in storage,
// which can be nil. Content and LastError return the result. Load returns when ctx ends, even if a
// fetch is running.
func (f *Feed) Load(ctx context.Context, config any, storage remote.Storage) {
	f.Feed.Load(ctx, config, func() { f.restoreVersion(ctx, new(remote.StorageLimiter), storage) })
}

// parseVersion parses and checks a registry. It returns an error if the version lacks more than
// half of the entries of inUse, and at least two. While a configuration is loaded, inUse is nil, so
// any valid version can be loaded.
func (f *Feed) parseVersion(data []byte, inUse *Version) (*Version, error) {
	e, err := registryfile.Parse(f.Name(), data, uaident.Default())
	if err != nil {
		return nil, err
	}
	registry, err := e.Merge(uaident.Default())
	if err == nil {
		err = CheckUsable(registry)
	}
	if err == nil {
		err = checkNoBrowser(registry)
	}
	v := &Version{e, sha256.Sum256(data), data}
	if err == nil && inUse != nil {
		err = v.checkMissingEntries(inUse)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return v, nil
}

// CheckUsable returns an error if clients cannot be verified with a registry, for example because
// two operators share a signing agent.
func CheckUsable(r *uaident.Registry) error {
	if _, err := identity.SigningAgents(r); err != nil {
		return err
	}
	v := verify.New(verify.Options{MaxVerified: 1, MaxOtherResults: 1})
	defer v.Close()
	return v.Configure(verify.Config{Crawlers: r.Crawlers(), Ranges: true, ReverseDNS: true})
}

// checkNoBrowser returns an error if a registry identifies a common browser as a crawler.
func checkNoBrowser(r *uaident.Registry) error {
	for _, userAgent := range browsers {
		if id := r.Identify(userAgent); id.Class != uaident.Browser {
			return fmt.Errorf("the name %s would identify the browser %q as a crawler; remove the name", id.Name(), userAgent)
		}
	}
	return nil
}

// checkMissingEntries returns an error if v lacks more than half of the entries of the version in
// use, and more than one.
func (v *Version) checkMissingEntries(inUse *Version) error {
	missing := 0
	for _, change := range registryfile.Diff(inUse.Crawlers, v.Crawlers) {
		if change.Kind == registryfile.Removed {
			missing++
		}
	}
	if missing <= 1 || 2*missing <= len(inUse.Crawlers) {
		return nil
	}
	return fmt.Errorf("%d of the %d entries of the version in use are missing; if this is intended, run: caddy reload --force", missing, len(inUse.Crawlers))
}

// remoteUser adapts a FeedUser to [remote.User].
type remoteUser struct {
	feed *Feed
	*FeedUser
}

// Changed implements [remote.User].
func (u remoteUser) Changed() { u.OnChange() }

// Replaced implements [remote.User].
func (u remoteUser) Replaced(previous, version *Version) {
	var crawlers []uaident.Crawler
	if previous != nil {
		crawlers = previous.Crawlers
	}
	changes := registryfile.Diff(crawlers, version.Crawlers)
	u.Logger.Info("a new version of the registry is in use",
		zap.String("registry", u.feed.Name()), zap.String("id", version.ID()), zap.Int("crawlers", len(version.Crawlers)), zap.Int("changes", len(changes)))
	u.sendEvent("robots_registry_changed", map[string]any{"registry": u.feed.Name(), "id": version.ID(), "crawlers": len(version.Crawlers), "changes": len(changes)})
}

// Failed implements [remote.User].
func (u remoteUser) Failed(err error, inUse *Version, isFirst bool) {
	if !isFirst {
		return
	}
	meanwhile := "the previous version stays in use"
	if inUse == nil {
		meanwhile = "only the built-in registry is in use"
	}
	u.Logger.Warn("the registry cannot be used; "+meanwhile, zap.String("registry", u.feed.Name()), zap.Error(err))
	u.sendEvent("robots_registry_failing", map[string]any{"registry": u.feed.Name(), "error": err.Error()})
}

// Recovered implements [remote.User].
func (u remoteUser) Recovered() {
	u.Logger.Info("the registry can be used again", zap.String("registry", u.feed.Name()))
}

// sendEvent calls SendEvent, unless SendEvent is nil.
func (u *FeedUser) sendEvent(event string, data map[string]any) {
	if u.SendEvent != nil {
		u.SendEvent(event, data)
	}
}

// Status returns the version in use, the time of its confirmation, and the error of the last fetch.
func (f *Feed) Status() *report.RegistryStatus {
	state := f.State()
	s := &report.RegistryStatus{Name: f.Name()}
	if v := state.Content; v != nil {
		s.InUse = &report.RegistryVersion{ID: v.ID(), Date: v.Date, Crawlers: len(v.Crawlers)}
	}
	if !state.ConfirmedAt.IsZero() {
		s.ConfirmedAt = state.ConfirmedAt.UTC()
	}
	if state.LastErr != nil {
		s.Failure, s.FailingSince = state.LastErr.Error(), state.FailingSince.UTC()
	}
	return s
}

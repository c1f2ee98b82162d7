package policy

import (
	"crypto/sha256"
	"net/http"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/limit"
)

const (
	// MaxAge is the maximum use of a copy while fetches succeed (RFC 9309 section 2.4).
	MaxAge = 24 * time.Hour

	// MaxUnreachable is the maximum use of the last good copy while fetches fail. RFC 9309
	// section 2.3.1.4: "a reasonably long period of time (for example, 30 days)".
	MaxUnreachable = 30 * 24 * time.Hour

	// MaxVersions is the maximum number of previous versions.
	MaxVersions = 8

	// MinAbsence is the time for which a site must respond without rules (404, 403, an empty
	// file or a web page) before that is its robots.txt. The file is fetched each
	// absenceFetchInterval during that time.
	MinAbsence           = time.Hour
	absenceFetchInterval = time.Minute

	// googleDisallowTime is how long Google's crawlers avoid a site with an unreachable robots.txt.
	googleDisallowTime = 12 * time.Hour

	minRetryDelay = time.Second
	maxRetryDelay = 5 * time.Minute
)

// Fallback selects the rules while fetches fail and no copy younger than MaxAge exists.
type Fallback uint8

// The fallbacks.
const (
	// LastGood uses the last good copy up to MaxUnreachable. Without a copy nothing is
	// restricted.
	LastGood Fallback = iota
	// AllowAll restricts nothing.
	AllowAll
	// DisallowAll restricts everything up to MaxUnreachable, as RFC 9309 section 2.3.1.4 requires
	// of crawlers.
	DisallowAll
	// DisallowLikeGoogle restricts everything for 12 hours and then behaves as LastGood, as
	// documented by Google.
	DisallowLikeGoogle
)

// Version is one fetched body of a robots.txt.
type Version struct {
	Robots *Robots
	// Hash is the SHA-256 of the body, or of the empty body if the site has no robots.txt.
	Hash [sha256.Size]byte
	// Status is the HTTP status of the last response. A file has 200 or 404.
	Status int
	// WasServed reports whether a response was this file, or showed that no file exists (404, 410, a
	// redirect without a target). Other clients can then have the same file. Served is false if
	// every response refused the guard, such as 403.
	WasServed bool
	// ETag and LastModified are the validators of the response.
	ETag, LastModified string
	// FirstFetched and LastFetched are the times of the first and last consecutive fetch of this
	// version.
	FirstFetched, LastFetched time.Time
	// ReplacedAt is the time of the first fetch of the next version, or zero for the current
	// version.
	ReplacedAt time.Time
	// Lifetime is the freshness lifetime of the last response, or NoLifetime. No [FreshnessPolicy] bounds
	// the value, and it is not stored.
	Lifetime time.Duration
	// Derived is the result of the Cache's derive function for Robots.
	Derived any
}

// NoLifetime is the Lifetime of a Version without freshness information.
const NoLifetime time.Duration = -1

// State is the state of a site's robots.txt. It is a value. [State.AfterFetch] returns the next
// state. The zero State is a site without fetches.
type State struct {
	// Current is the last response that determined the rules, or nil.
	Current *Version
	// Previous are the versions before Current, newest first, at most MaxVersions. Callers must not
	// modify the slice.
	Previous []*Version
	// NextFetch is the time of the next fetch.
	NextFetch time.Time
	// FailureCount is the number of failed fetches since Current. FailingSince is the end of the
	// first, and LastFailure the end of the last.
	FailureCount int
	FailingSince time.Time
	LastFailure  time.Time
	// RedirectTargets lists the redirect targets of the last fetch, as in [FetchResult].
	RedirectTargets []string
	// LastResult, Status and Err are the meaning, status and error of the last response. A restored
	// state has no status.
	LastResult AccessResult
	LastStatus int
	LastErr    error
}

// lastFetch returns the end of the last fetch that responded or failed. s must have a version or a
// failure.
func (s *State) lastFetch() time.Time {
	if s.FailureCount > 0 {
		return s.LastFailure
	}
	return s.Current.LastFetched
}

// AfterFetch returns the state after a response at now. f determines the validity of a good
// response. jitter, from 0 to 1, makes the next fetch earlier by up to a tenth of the validity.
// After a failure the next fetch is due after one second, doubling up to five minutes, or at
// Retry-After, but within MaxAge.
func (s State) AfterFetch(a FetchResult, now time.Time, f FreshnessPolicy, jitter float64) State {
	access := a.AccessResult()
	if access == NotModified && s.Current == nil {
		access = Unreachable // the request was not conditional
	}
	next := State{Current: s.Current, Previous: s.Previous, RedirectTargets: storableRedirects(a.RedirectTargets), LastResult: access, LastStatus: a.Status, LastErr: a.Err}
	if !access.DeterminesRules() {
		if next.FailureCount = s.FailureCount + 1; len(next.RedirectTargets) == 0 {
			next.RedirectTargets = s.RedirectTargets // the fetch may have failed before the redirects
		}
		next.FailingSince, next.LastFailure = s.FailingSince, now
		if s.FailureCount == 0 {
			next.FailingSince = now
		}
		wait := maxRetryDelay
		if doublings := next.FailureCount - 1; doublings < 16 {
			wait = min(maxRetryDelay, minRetryDelay<<doublings)
		}
		wait += time.Duration(jitter * float64(wait) / 10)
		next.NextFetch = now.Add(min(MaxAge, max(wait, limit.RetryAfter(a.Header, now))))
		return next
	}
	next.acceptVersion(a, access, now)
	lifetime := f.Lifetime(a.Header, now)
	if !next.Current.Robots.HasGroups() && len(next.Previous) > 0 && now.Sub(next.Current.FirstFetched) < MinAbsence {
		lifetime = min(lifetime, max(f.Min, absenceFetchInterval))
	}
	next.NextFetch = now.Add(lifetime - time.Duration(jitter*float64(lifetime)/10))
	return next
}

// acceptVersion makes the version in a good response the current version.
func (s *State) acceptVersion(a FetchResult, access AccessResult, now time.Time) {
	before := s.Current
	var good Version
	switch hash := sha256.Sum256(a.rulesBody(access)); {
	case access == NotModified && a.CachedVersion != nil && a.CachedVersion.Hash != before.Hash: // another version arrived meanwhile
		good = *a.CachedVersion
		good.FirstFetched, good.ReplacedAt = now, time.Time{}
		s.moveToPrevious(before, &good, now)
	case access == NotModified, before != nil && before.Hash == hash:
		good = *before
	default:
		good = Version{Hash: hash, FirstFetched: now}
		if before != nil {
			s.moveToPrevious(before, &good, now)
		}
		if good.Robots == nil { // otherwise a previous version has returned
			good.Robots = Parse(a.rulesBody(access))
		}
	}
	good.LastFetched = now
	good.Lifetime = ParseLifetime(a.Header, now)
	if access != NotModified {
		good.Status = a.Status
		good.WasServed = good.WasServed || a.Status < 400 || a.Status == http.StatusNotFound || a.Status == http.StatusGone
		good.ETag, good.LastModified = storableValidator(a.Header.Get("ETag")), lastModifiedValidator(a.Header, now)
	}
	s.Current = &good
}

// lastModifiedValidator returns the Last-Modified of a response at now. lastModifiedValidator returns "" if the
// file could change again without a new date (RFC 9110 section 8.8.2.2).
func lastModifiedValidator(h http.Header, now time.Time) string {
	if age, ok := TimeSinceModified(h, now); ok && age < time.Second {
		return ""
	}
	return storableValidator(h.Get("Last-Modified"))
}

// moveToPrevious moves a version to Previous, and removes the new version from Previous. Previous contains
// the new version if, for example, two servers alternate between two files.
func (s *State) moveToPrevious(before, good *Version, now time.Time) {
	old := *before
	old.ReplacedAt = now
	past := []*Version{&old}
	for _, v := range s.Previous {
		if v.Hash == good.Hash {
			good.Robots, good.Derived, good.WasServed = v.Robots, v.Derived, v.WasServed
		} else if len(past) < MaxVersions {
			past = append(past, v)
		}
	}
	s.Previous = past
}

// VersionsInGrace returns the previous versions that a crawler may still use at now, which were
// current less than grace ago. RFC 9309 section 2.4 lets a crawler use a copy for 24 hours.
func (s *State) VersionsInGrace(now time.Time, grace time.Duration) []*Version {
	for i, v := range s.Previous {
		if now.Sub(v.ReplacedAt) >= grace {
			return s.Previous[:i]
		}
	}
	return s.Previous
}

// EffectiveRules returns the rules at now. robots is nil if the rules are unknown. disallowAll then
// reports whether everything is disallowed for that reason.
func (s *State) EffectiveRules(now time.Time, fallback Fallback) (robots *Robots, disallowAll bool) {
	if s.Current != nil && s.FailureCount == 0 {
		return s.Current.Robots, false
	}
	failing := now.Sub(s.FailingSince)
	if s.Current != nil {
		age := now.Sub(s.Current.LastFetched)
		useLastGood := fallback == LastGood || fallback == DisallowLikeGoogle && failing >= googleDisallowTime ||
			fallback != AllowAll && s.LastResult == TooManyRequests
		if age < MaxAge || useLastGood && age < MaxUnreachable {
			return s.Current.Robots, false
		}
	}
	if s.FailureCount == 0 || s.LastResult == TooManyRequests {
		return nil, false
	}
	return nil, fallback == DisallowAll && failing < MaxUnreachable || fallback == DisallowLikeGoogle && failing < googleDisallowTime
}

// IsExpired reports whether the copy is too old to be used while fetches succeed.
func (s *State) IsExpired(now time.Time) bool {
	return s.Current != nil && s.FailureCount == 0 && now.Sub(s.Current.LastFetched) >= MaxAge
}

// ResponseHash returns the hash of the version in a response. ok is false if the response
// determines no rules or confirms a copy.
func ResponseHash(a FetchResult) (hash [sha256.Size]byte, ok bool) {
	access := a.AccessResult()
	if access != Successful && access != Unavailable {
		return hash, false
	}
	return sha256.Sum256(a.rulesBody(access)), true
}

// NewVersion returns the version in a response, or nil if the response determines no rules or
// confirms a copy.
func NewVersion(a FetchResult, now time.Time) *Version {
	var s State
	if access := a.AccessResult(); access == Successful || access == Unavailable {
		s.acceptVersion(a, access, now)
	}
	return s.Current
}

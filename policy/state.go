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

	// MaxVersions is the maximum number of previous versions in a State.
	MaxVersions = 8

	// MinAbsence is the time for which a site must respond without rules (404, 403, an empty file or a
	// web page) before the missing rules count for crawlers that were not served them. Until then the
	// robots.txt is fetched each absenceFetchInterval.
	MinAbsence           = time.Hour
	absenceFetchInterval = time.Minute

	// googleDisallowTime is the time for which Google's crawlers stop crawling a site whose robots.txt
	// is unreachable.
	googleDisallowTime = 12 * time.Hour

	minRetryDelay = time.Second
	maxRetryDelay = 5 * time.Minute
)

// Fallback selects the rules that apply while fetches fail. The last good copy applies in any case
// until it is MaxAge old. While the fetches fail with status 429, no Fallback disallows everything.
type Fallback uint8

// These are the fallbacks.
const (
	// LastGood uses the last good copy until it is MaxUnreachable old. After that, or without a
	// copy, everything is allowed.
	LastGood Fallback = iota
	// AllowAll allows everything.
	AllowAll
	// DisallowAll disallows everything until fetches have failed for MaxUnreachable, as RFC 9309
	// section 2.3.1.4 requires of crawlers.
	DisallowAll
	// DisallowLikeGoogle disallows everything until fetches have failed for 12 hours, and then
	// behaves as LastGood. Google documents this for its crawlers.
	DisallowLikeGoogle
)

// Version is a robots.txt of a site: a fetched body, parsed, with its times. A site without a
// robots.txt has a Version with an empty body.
type Version struct {
	Robots *Robots
	// Hash is the SHA-256 of the body. Without a robots.txt the body is empty.
	Hash [sha256.Size]byte
	// Status is the HTTP status of the last response with this version, such as 200 or 404.
	Status int
	// WasServed reports whether some response contained this body, or showed that no file exists
	// (404, 410, or a redirect without a target). Other clients can then have the same body.
	// WasServed is false if every response denied access, such as 403.
	WasServed bool
	// ETag and LastModified are the validators of the last response, for conditional requests, or
	// "".
	ETag, LastModified string
	// FirstFetched and LastFetched are the times of the first and last of consecutive fetches that
	// returned this version.
	FirstFetched, LastFetched time.Time
	// ReplacedAt is the time of the first fetch that returned the next version. It is zero for the
	// current version.
	ReplacedAt time.Time
	// Lifetime is the freshness lifetime in the header of the last response, without the bounds of
	// a [FreshnessPolicy], or NoLifetime. It is not stored.
	Lifetime time.Duration
	// Derived is the result of the function derive of [NewCache] for Robots.
	Derived any
}

// NoLifetime is the Lifetime of a Version whose last response had no freshness information.
const NoLifetime time.Duration = -1

// State is what is known about the robots.txt of a site: its versions, and the result of the last
// fetch. A State is immutable: [State.AfterFetch] and [State.Merge] return the next state. The zero
// State is a site without fetches.
type State struct {
	// Current is the version in the last response that determined the rules, or nil.
	Current *Version
	// Previous are the versions that Current replaced, latest ReplacedAt first, at most
	// MaxVersions. Callers must not modify the slice.
	Previous []*Version
	// NextFetch is the time at which the next fetch is due.
	NextFetch time.Time
	// FailureCount is the number of fetches that failed since the last good response. FailingSince
	// and LastFailure are the ends of the first and the last of these fetches.
	FailureCount int
	FailingSince time.Time
	LastFailure  time.Time
	// RedirectTargets lists the targets of the redirects in the last fetch, as in [FetchResult].
	RedirectTargets []string
	// LastResult, LastStatus and LastErr are the access result, HTTP status and error of the last
	// fetch. After a restore, LastStatus is 0.
	LastResult AccessResult
	LastStatus int
	LastErr    error
}

// lastFetch returns the time of the last fetch, failed or not. s must have a version or a failure.
func (s *State) lastFetch() time.Time {
	if s.FailureCount > 0 {
		return s.LastFailure
	}
	return s.Current.LastFetched
}

// AfterFetch returns the state after a fetch with the result a that ended at now.
//
//   - After a good response, the next fetch is due at the end of the lifetime that f allows.
//     jitter, from 0 to 1, shortens the lifetime by up to a tenth.
//   - After a failure, the next fetch is due after one second. The wait doubles with each further
//     failure, up to five minutes. jitter lengthens the wait by up to a tenth. A longer
//     Retry-After applies instead, up to MaxAge.
func (s State) AfterFetch(a FetchResult, now time.Time, f FreshnessPolicy, jitter float64) State {
	access := a.AccessResult()
	if access == NotModified && s.Current == nil {
		access = Unreachable // The request was not conditional.
	}
	next := State{Current: s.Current, Previous: s.Previous, RedirectTargets: storableRedirects(a.RedirectTargets), LastResult: access, LastStatus: a.Status, LastErr: a.Err}
	if !access.DeterminesRules() {
		if next.FailureCount = s.FailureCount + 1; len(next.RedirectTargets) == 0 {
			next.RedirectTargets = s.RedirectTargets // The fetch may have failed before the redirects.
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

// acceptVersion makes the version in a good response at now the current version. access is the
// access result of the response.
func (s *State) acceptVersion(a FetchResult, access AccessResult, now time.Time) {
	before := s.Current
	var good Version
	switch hash := sha256.Sum256(a.rulesBody(access)); {
	case access == NotModified && a.CachedVersion != nil && a.CachedVersion.Hash != before.Hash:
		// Another version arrived meanwhile.
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
		if good.Robots == nil { // Robots is set if a previous version with this body has returned.
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

// lastModifiedValidator returns the Last-Modified of a response at now for conditional requests.
// lastModifiedValidator returns "" if the file was modified in the same second, so that it could
// change again with the same date (RFC 9110 section 8.8.2.2).
func lastModifiedValidator(h http.Header, now time.Time) string {
	if age, ok := timeSinceModified(h, now); ok && age < time.Second {
		return ""
	}
	return storableValidator(h.Get("Last-Modified"))
}

// moveToPrevious moves the version before to Previous, replaced at now by good. If Previous
// contains the body of good, moveToPrevious removes that version and reuses its parsed file. That
// happens if, for example, two servers alternate between two files.
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

// VersionsInGrace returns the previous versions that were current less than grace before now. A
// crawler may still obey them, because RFC 9309 section 2.4 lets a crawler use a copy for 24 hours.
func (s *State) VersionsInGrace(now time.Time, grace time.Duration) []*Version {
	for i, v := range s.Previous {
		if now.Sub(v.ReplacedAt) >= grace {
			return s.Previous[:i]
		}
	}
	return s.Previous
}

// EffectiveRules returns the rules that apply at now. robots is nil if no rules are known or may be
// used. Then disallowAll reports whether fallback disallows everything, else everything is allowed.
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

// IsExpired reports whether the current version is MaxAge old although no fetch has failed, so that
// a fetch is necessary before the version is used.
func (s *State) IsExpired(now time.Time) bool {
	return s.Current != nil && s.FailureCount == 0 && now.Sub(s.Current.LastFetched) >= MaxAge
}

// NewVersion returns the version in a response at now. The result is nil for a failed fetch and for
// a response 304, which have no body with rules.
func NewVersion(a FetchResult, now time.Time) *Version {
	var s State
	if access := a.AccessResult(); access == Successful || access == Unavailable {
		s.acceptVersion(a, access, now)
	}
	return s.Current
}

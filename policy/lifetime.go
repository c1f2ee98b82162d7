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

	// Absence is the time for which a site must respond without rules (404, 403, an empty
	// file or a web page) before that is its robots.txt. The file is fetched each
	// absenceInterval during that time.
	Absence         = time.Hour
	absenceInterval = time.Minute

	// googleClosed is how long Google's crawlers avoid a site with an unreachable robots.txt.
	googleClosed = 12 * time.Hour

	firstRetry = time.Second
	lastRetry  = 5 * time.Minute
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
	// DisallowGoogle restricts everything for 12 hours and then behaves as LastGood, as
	// documented by Google.
	DisallowGoogle
)

// Version is one fetched body of a robots.txt.
type Version struct {
	Robots *Robots
	// Hash is the SHA-256 of the body, or of the empty body if the site has no robots.txt.
	Hash [sha256.Size]byte
	// Status is the HTTP status of the last response. A file has 200 or 404.
	Status int
	// Served reports whether a response was this file, or stated that no file exists (404,
	// 410, a redirect without a target). Other clients can then have the same file. It is
	// false if every response refused the guard, such as 403.
	Served bool
	// ETag and LastModified are the validators of the response.
	ETag, LastModified string
	// FirstRead and LastRead are the times of the first and last consecutive fetch of this
	// version.
	FirstRead, LastRead time.Time
	// Until is the time of the first fetch of another version. It is zero for the current
	// version.
	Until time.Time
	// Lifetime is the freshness lifetime of the last response, or NoLifetime. It is not
	// bounded by a [Freshness] and not stored.
	Lifetime time.Duration
	// Derived is the result of the Cache's derive function for Robots.
	Derived any
}

// NoLifetime is the Lifetime of a Version without freshness information.
const NoLifetime time.Duration = -1

// State is the state of a site's robots.txt. It is a value. [State.After] returns the next
// state. The zero State is a site without fetches.
type State struct {
	// Good is the last response that determined the rules, or nil.
	Good *Version
	// Past are the versions before Good, newest first, at most MaxVersions. Callers must not
	// modify it.
	Past []*Version
	// Due is the time of the next fetch.
	Due time.Time
	// Failures is the number of failed fetches since Good. FailingSince is the end of the
	// first, and FailedAt the end of the last.
	Failures     int
	FailingSince time.Time
	FailedAt     time.Time
	// Via lists the redirect targets of the last fetch, as in [Answer].
	Via []string
	// Last, Status and Err are the meaning, status and error of the last response. A restored
	// state has no status.
	Last   Meaning
	Status int
	Err    error
}

// After returns the state after a response at now. f determines the validity of a good
// response. jitter, from 0 to 1, makes the next fetch earlier by up to a tenth of the
// validity. After a failure the next fetch is due after one second, doubling up to five
// minutes, or at Retry-After, but within MaxAge.
func (s State) After(a Answer, now time.Time, f Freshness, jitter float64) State {
	meaning := a.Meaning()
	if meaning == Unchanged && s.Good == nil {
		meaning = Unreachable // the request was not conditional
	}
	next := State{Good: s.Good, Past: s.Past, Via: storableVia(a.Via), Last: meaning, Status: a.Status, Err: a.Err}
	if !meaning.Known() {
		if next.Failures = s.Failures + 1; len(next.Via) == 0 {
			next.Via = s.Via // the fetch may have failed before the redirects
		}
		next.FailingSince, next.FailedAt = s.FailingSince, now
		if s.Failures == 0 {
			next.FailingSince = now
		}
		wait := lastRetry
		if doublings := next.Failures - 1; doublings < 16 {
			wait = min(lastRetry, firstRetry<<doublings)
		}
		wait += time.Duration(jitter * float64(wait) / 10)
		next.Due = now.Add(min(MaxAge, max(wait, limit.RetryAfter(a.Header, now))))
		return next
	}
	next.take(a, meaning, now)
	life := f.Lifetime(a, now)
	if !next.Good.Robots.HasGroups() && len(next.Past) > 0 && now.Sub(next.Good.FirstRead) < Absence {
		life = min(life, max(f.Min, absenceInterval))
	}
	next.Due = now.Add(life - time.Duration(jitter*float64(life)/10))
	return next
}

// take makes the version in a good response the current version.
func (s *State) take(a Answer, meaning Meaning, now time.Time) {
	before := s.Good
	var good Version
	switch hash := sha256.Sum256(a.text(meaning)); {
	case meaning == Unchanged && a.Of != nil && a.Of.Hash != before.Hash: // another version arrived meanwhile
		good = *a.Of
		good.FirstRead, good.Until = now, time.Time{}
		s.retire(before, &good, now)
	case meaning == Unchanged, before != nil && before.Hash == hash:
		good = *before
	default:
		good = Version{Hash: hash, FirstRead: now}
		if before != nil {
			s.retire(before, &good, now)
		}
		if good.Robots == nil { // otherwise a previous version has returned
			good.Robots = Parse(a.text(meaning))
		}
	}
	good.LastRead = now
	good.Lifetime = LifetimeOf(a.Header, now)
	if meaning != Unchanged {
		good.Status = a.Status
		good.Served = good.Served || a.Status < 400 || a.Status == http.StatusNotFound || a.Status == http.StatusGone
		good.ETag, good.LastModified = validator(a.Header.Get("ETag")), dateValidator(a.Header, now)
	}
	s.Good = &good
}

// dateValidator returns the Last-Modified of a response at now. It returns "" if the file
// could change again without a new date (RFC 9110 section 8.8.2.2).
func dateValidator(h http.Header, now time.Time) string {
	if age, ok := SinceModified(h, now); ok && age < time.Second {
		return ""
	}
	return validator(h.Get("Last-Modified"))
}

// retire moves a version to Past. If Past contains the new version, it is removed there, as
// with two servers that take turns with two files.
func (s *State) retire(before, good *Version, now time.Time) {
	old := *before
	old.Until = now
	past := []*Version{&old}
	for _, v := range s.Past {
		if v.Hash == good.Hash {
			good.Robots, good.Derived, good.Served = v.Robots, v.Derived, v.Served
		} else if len(past) < MaxVersions {
			past = append(past, v)
		}
	}
	s.Past = past
}

// Held returns the previous versions that a crawler may still use at now: those that were
// current less than grace ago. RFC 9309 section 2.4 lets a crawler use a copy for 24 hours.
func (s *State) Held(now time.Time, grace time.Duration) []*Version {
	for i, v := range s.Past {
		if now.Sub(v.Until) >= grace {
			return s.Past[:i]
		}
	}
	return s.Past
}

// Usable returns the rules at now. robots is nil if the rules are unknown. closed then
// reports whether everything is disallowed for that reason.
func (s *State) Usable(now time.Time, choice Fallback) (robots *Robots, closed bool) {
	if s.Good != nil && s.Failures == 0 {
		return s.Good.Robots, false
	}
	failing := now.Sub(s.FailingSince)
	if s.Good != nil {
		age := now.Sub(s.Good.LastRead)
		lasts := choice == LastGood || choice == DisallowGoogle && failing >= googleClosed ||
			choice != AllowAll && s.Last == Refused
		if age < MaxAge || lasts && age < MaxUnreachable {
			return s.Good.Robots, false
		}
	}
	if s.Failures == 0 || s.Last == Refused {
		return nil, false
	}
	return nil, choice == DisallowAll && failing < MaxUnreachable || choice == DisallowGoogle && failing < googleClosed
}

// Expired reports whether the copy is too old to be used while fetches succeed.
func (s *State) Expired(now time.Time) bool {
	return s.Good != nil && s.Failures == 0 && now.Sub(s.Good.LastRead) >= MaxAge
}

// HashOf returns the hash of the version in a response. ok is false if the response
// determines no rules or confirms a copy.
func HashOf(a Answer) (hash [sha256.Size]byte, ok bool) {
	meaning := a.Meaning()
	if meaning != Rules && meaning != Unavailable {
		return hash, false
	}
	return sha256.Sum256(a.text(meaning)), true
}

// VersionOf returns the version in a response, or nil if the response determines no rules or
// confirms a copy.
func VersionOf(a Answer, now time.Time) *Version {
	var s State
	if meaning := a.Meaning(); meaning == Rules || meaning == Unavailable {
		s.take(a, meaning, now)
	}
	return s.Good
}

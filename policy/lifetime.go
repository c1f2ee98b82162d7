package policy

import (
	"crypto/sha256"
	"net/http"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/retryafter"
)

const (
	// MaxAge is how long a copy may be used while the file can be read again
	// (RFC 9309 section 2.4).
	MaxAge = 24 * time.Hour

	// MaxUnreachable is how long the last good copy holds while the file
	// cannot be read. RFC 9309 section 2.3.1.4 calls it "a reasonably long
	// period of time (for example, 30 days)".
	MaxUnreachable = 30 * 24 * time.Hour

	// MaxVersions is how many versions before the current one are kept.
	MaxVersions = 8

	// Absence is for how long a site has to answer without rules (404, 403, an empty file or
	// a web page) before that is taken for its robots.txt. Until then the file is read each
	// absenceInterval.
	Absence         = time.Hour
	absenceInterval = time.Minute

	// googleClosed is how long Google's crawlers stay away from a site whose
	// robots.txt cannot be read.
	googleClosed = 12 * time.Hour

	firstRetry = time.Second
	lastRetry  = 5 * time.Minute
)

// Fallback says what holds while a robots.txt cannot be read and no copy
// younger than MaxAge is left.
type Fallback uint8

// The fallbacks.
const (
	// LastGood uses the last good copy up to MaxUnreachable, and restricts
	// nothing where there is none.
	LastGood Fallback = iota
	// AllowAll restricts nothing.
	AllowAll
	// DisallowAll restricts everything up to MaxUnreachable, as RFC 9309
	// section 2.3.1.4 asks of crawlers.
	DisallowAll
	// DisallowGoogle restricts everything for 12 hours and is LastGood after
	// that, as Google documents of its crawlers.
	DisallowGoogle
)

// Version is one text of a robots.txt as it was read.
type Version struct {
	Robots *Robots
	// Hash is the SHA-256 of the body, of the empty body where the site has no
	// robots.txt.
	Hash [sha256.Size]byte
	// Status is the HTTP status of the last answer, for a file 200 or 404.
	Status int
	// Served says that some answer was this text, or that there is no file (404, 410, or
	// a redirect that leads nowhere), so that others may have got the same. It is false
	// where each answer refused the file to who asked, as 403 does.
	Served bool
	// ETag and LastModified are the validators that came with it, "" if none did.
	ETag, LastModified string
	// FirstRead and LastRead are when this text was read for the first and the
	// last time in a row.
	FirstRead, LastRead time.Time
	// Until is when another text was found in its place, zero for the current
	// version.
	Until time.Time
	// Lifetime is the freshness lifetime that the last answer stated, NoLifetime if it
	// stated none. It is not bounded by a [Freshness], and not stored.
	Lifetime time.Duration
	// Derived is what the derive function of a Cache made of Robots.
	Derived any
}

// NoLifetime is the Lifetime of a Version whose answer stated none.
const NoLifetime time.Duration = -1

// State is what is known of the robots.txt of one site. It is a value:
// [State.After] makes the next one. The zero State knows nothing.
type State struct {
	// Good is the last answer that settled the rules, nil if there is none.
	Good *Version
	// Past holds the versions before Good, the newest first, at most
	// MaxVersions of them. It must not be modified.
	Past []*Version
	// Due is when the file should be read again.
	Due time.Time
	// Failures counts the attempts since Good that settled nothing, and
	// FailingSince is when the first of them ended, FailedAt when the last did.
	Failures     int
	FailingSince time.Time
	FailedAt     time.Time
	// Via is where the file was redirected to when it was asked for last, as in [Answer].
	Via []string
	// Last is the meaning of the last answer, Status its HTTP status and Err its
	// error, if any. A state that was restored has no status.
	Last   Meaning
	Status int
	Err    error
}

// After returns the state that follows from an answer which came at now.
// A good answer holds as long as f says; jitter from 0 to 1 says how much
// earlier within the last tenth of that the next attempt is due. After a failure
// the next attempt is due in one second, doubling up to five minutes, or when
// the server asks for it, but in MaxAge at the latest.
func (s State) After(a Answer, now time.Time, f Freshness, jitter float64) State {
	meaning := a.Meaning()
	if meaning == Unchanged && s.Good == nil {
		meaning = Unreachable // nobody asked for that
	}
	next := State{Good: s.Good, Past: s.Past, Via: storableVia(a.Via), Last: meaning, Status: a.Status, Err: a.Err}
	if !meaning.Known() {
		if next.Failures = s.Failures + 1; len(next.Via) == 0 {
			next.Via = s.Via // it may not have come so far
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
		next.Due = now.Add(min(MaxAge, max(wait, retryafter.Of(a.Header, now))))
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

// take makes a good answer the current version.
func (s *State) take(a Answer, meaning Meaning, now time.Time) {
	before := s.Good
	var good Version
	switch hash := sha256.Sum256(a.text(meaning)); {
	case meaning == Unchanged && a.Of != nil && a.Of.Hash != before.Hash: // which has come meanwhile
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
		if good.Robots == nil { // else it has come back from the past
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

// dateValidator returns the Last-Modified of an answer that came at now, "" where the file may
// change once more without having another (RFC 9110 section 8.8.2.2): it would be taken for
// unchanged for as long as nobody writes it again.
func dateValidator(h http.Header, now time.Time) string {
	if age, ok := SinceModified(h, now); ok && age < time.Second {
		return ""
	}
	return validator(h.Get("Last-Modified"))
}

// retire moves a version to the past. If the new one was there before, as with
// two servers that take turns with two files, it comes back from there.
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

// Held returns the versions before the current one that a crawler may still
// follow at now: those that were current less than grace ago.
// RFC 9309 section 2.4 lets a crawler use a copy for up to 24 hours.
func (s *State) Held(now time.Time, grace time.Duration) []*Version {
	for i, v := range s.Past {
		if now.Sub(v.Until) >= grace {
			return s.Past[:i]
		}
	}
	return s.Past
}

// Usable tells what holds at now. robots is nil where nobody can know the
// rules; closed then says whether everything is restricted for that reason.
func (s *State) Usable(now time.Time, choice Fallback) (robots *Robots, closed bool) {
	failing := now.Sub(s.FailingSince)
	if s.Good != nil {
		age := now.Sub(s.Good.LastRead)
		lasts := choice == LastGood || choice == DisallowGoogle && failing >= googleClosed ||
			choice != AllowAll && s.Last == Refused
		if age < MaxAge || s.Failures == 0 || lasts && age < MaxUnreachable {
			return s.Good.Robots, false
		}
	}
	if s.Failures == 0 || s.Last == Refused {
		return nil, false
	}
	return nil, choice == DisallowAll && failing < MaxUnreachable || choice == DisallowGoogle && failing < googleClosed
}

// Expired reports whether a copy is there that is too old to be used while the
// file can be read again.
func (s *State) Expired(now time.Time) bool {
	return s.Good != nil && s.Failures == 0 && now.Sub(s.Good.LastRead) >= MaxAge
}

// HashOf returns the hash of the version that an answer holds; ok is false if it
// settles no rules or is about a copy that the caller has.
func HashOf(a Answer) (hash [sha256.Size]byte, ok bool) {
	meaning := a.Meaning()
	if meaning != Rules && meaning != Unavailable {
		return hash, false
	}
	return sha256.Sum256(a.text(meaning)), true
}

// VersionOf returns the version that an answer holds, nil if it settles no rules
// or is about a copy that the caller has.
func VersionOf(a Answer, now time.Time) *Version {
	var s State
	if meaning := a.Meaning(); meaning == Rules || meaning == Unavailable {
		s.take(a, meaning, now)
	}
	return s.Good
}

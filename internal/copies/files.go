package copies

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strings"
	"time"
	"weak"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Host identifies a robots.txt. It has no host pattern and no listeners, so the files survive a
// reload that changes these.
type Host struct {
	Source        string `json:"source,omitempty"` // the configured source; only ForwardedHost may also be set
	Secure        bool   `json:"secure,omitempty"`
	Name          string `json:"name,omitempty"`      // in lower case, without a port
	Port          int    `json:"port,omitempty"`      // the port of the listener, 0 for the default port of the scheme
	ForwardedHost string `json:"forwarded,omitempty"` // the host that a trusted proxy forwards, if different from Name
}

// String returns the source, or the host as a URL without path and port.
func (h Host) String() string {
	return policy.Key{Source: h.Source, Secure: h.Secure, Host: h.Name}.String()
}

// These bounds apply to each host. A host evicts only its own files.
const (
	maxCopied         = 16      // files that were our copy
	maxServed         = 16      // other served files
	maxServedPerToken = 4       // other files served to one token
	maxTokens         = 256     // product tokens; further tokens share everyToken
	maxText           = 2 << 20 // bytes of all files
	maxToken          = 64      // bytes of a token
)

// everyToken replaces tokens beyond maxTokens. Files served to it apply to all tokens.
const everyToken = "*"

// proxyExtra is the extra grace behind a trusted proxy for a file without a freshness lifetime. The
// proxy may serve the file from its cache for that time.
const proxyExtra = 2 * time.Hour

// file is one robots.txt of a host. Bodies with the same rules are one file.
type file struct {
	digest       [sha256.Size]byte // of the rules
	hash         [sha256.Size]byte // of the last body
	version      *policy.Version   // nil if the host has no other file and this is our copy, which the policy cache references
	robots       weak.Pointer[policy.Robots]
	copied       time.Time            // last time it was our copy, or zero
	served       map[string]time.Time // last time it was served, by product token
	extra        time.Duration        // how much longer a proxy may serve it
	inForceUntil time.Time            // end of enforcement by the change guard, or zero
}

// counts reports whether a crawler with this token may use the file.
func (f *file) counts(token string, now, ended time.Time, grace time.Duration) bool {
	within := func(last time.Time) bool {
		return last.After(ended) && now.Sub(last) < grace+f.extra
	}
	return within(f.copied) || token != "" && (within(f.served[token]) || within(f.served[everyToken]))
}

// last returns the last time at which the guard had the file as its copy, the change guard kept it
// in force, or the site served it.
func (f *file) last() time.Time {
	last := later(f.copied, f.inForceUntil)
	for _, at := range f.served {
		last = later(last, at)
	}
	return last
}

// files are the files of one host, guarded by Book.mu.
type files struct {
	host    Host
	named   bool          // the host is configured
	grace   time.Duration // the configured grace
	all     []*file
	current [sha256.Size]byte // digest of our copy
	noted   time.Time         // last record of our copy
	body    [sha256.Size]byte // hash of our copy at that time

	// rulelessSince is the time since which our copies have had no rules. rulelessUntil is the last
	// record of such a copy. rulelessSince is zero while our copy has rules.
	rulelessSince, rulelessUntil time.Time

	// lost is the last time when a dropped file was our copy. lostFor has the last time when a
	// dropped file was served, by token. The rules of dropped files are unknown.
	lost    time.Time
	lostFor map[string]time.Time

	ended   time.Time // the owner ended the grace of files used until then
	changes uint64    // number of changes worth storing
}

// find returns the file with these rules, or nil.
func (h *files) find(digest [sha256.Size]byte) *file {
	for _, f := range h.all {
		if f.digest == digest {
			return f
		}
	}
	return nil
}

// digestOf returns the digest of the rules of a version. It does not recompute the digest for the
// body of a recorded file.
func (h *files) digestOf(v *policy.Version) [sha256.Size]byte {
	for _, f := range h.all {
		if f.hash == v.Hash {
			return f.digest
		}
	}
	return v.Robots.RulesDigest()
}

// tokens returns the number of tokens of the host.
func (h *files) tokens() int {
	all := make(map[string]bool)
	for _, f := range h.all {
		for token := range f.served {
			all[token] = true
		}
	}
	return len(all)
}

// knows reports whether the site served a file to a token.
func (h *files) knows(token string) bool {
	return slices.ContainsFunc(h.all, func(f *file) bool { return !f.served[token].IsZero() })
}

// expire drops files and tokens that are older than the horizon.
func (h *files) expire(now time.Time, horizon time.Duration) (dropped []*file) {
	h.all = slices.DeleteFunc(h.all, func(f *file) bool {
		old := func(at time.Time) bool { return now.Sub(at) >= horizon+f.extra }
		maps.DeleteFunc(f.served, func(_ string, at time.Time) bool { return old(at) })
		if f.digest == h.current || !old(f.last()) {
			return false
		}
		dropped = append(dropped, f)
		return true
	})
	maps.DeleteFunc(h.lostFor, func(_ string, at time.Time) bool { return now.Sub(at) >= horizon })
	return dropped
}

// excess returns a file that exceeds the bounds, or nil. It never returns our copy.
func (h *files) excess() *file {
	copied, served, text := 0, 0, 0
	var oldestCopy, oldestServed *file
	for _, f := range h.all {
		if f.version != nil {
			text += len(f.version.Robots.Text())
		}
		switch {
		case f.digest == h.current:
		case f.copied.IsZero():
			served++
			if oldestServed == nil || f.last().Before(oldestServed.last()) {
				oldestServed = f
			}
		default:
			copied++
			if oldestCopy == nil || f.last().Before(oldestCopy.last()) {
				oldestCopy = f
			}
		}
	}
	switch {
	case served > maxServed, text > maxText && served > 0:
		return oldestServed
	case copied > maxCopied, text > maxText && copied > 0:
		return oldestCopy
	}
	return nil
}

// lose records that a file was dropped although a crawler may still use it.
func (h *files) lose(f *file) {
	if !f.copied.IsZero() {
		h.lost = later(h.lost, f.copied.Add(f.extra))
	}
	for token, at := range f.served {
		h.loseFor(token, at.Add(f.extra))
	}
}

// loseFor does the same as lose for one token.
func (h *files) loseFor(token string, at time.Time) {
	if h.lostFor == nil {
		h.lostFor = make(map[string]time.Time)
	}
	if _, known := h.lostFor[token]; !known && len(h.lostFor) >= maxTokens {
		token = everyToken
	}
	h.lostFor[token] = later(h.lostFor[token], at)
}

// isLost reports whether a crawler with this token may use a dropped file.
func (h *files) isLost(token string, now time.Time, grace time.Duration) bool {
	within := func(last time.Time) bool { return last.After(h.ended) && now.Sub(last) < grace }
	return within(h.lost) || token != "" && (within(h.lostFor[token]) || within(h.lostFor[everyToken]))
}

// effectiveAt implements [Book.EffectiveAt].
func (h *files) effectiveAt(now time.Time) (at time.Time) {
	for _, f := range h.all {
		if f.digest != h.current && f.counts("", now, h.ended, h.grace) {
			at = later(at, f.copied.Add(h.grace+f.extra))
		}
	}
	if h.isLost("", now, h.grace) {
		at = later(at, h.lost.Add(h.grace))
	}
	return at
}

// shift extends the grace by the time between from and to. Grace does not elapse while our fetches
// fail.
func (h *files) shift(from, to time.Time) {
	moved := func(at time.Time) time.Time {
		switch {
		case at.IsZero() || !at.Before(to):
			return at
		case at.Before(from):
			return at.Add(to.Sub(from))
		}
		return to
	}
	for _, f := range h.all {
		f.copied = moved(f.copied)
		for token, at := range f.served {
			f.served[token] = moved(at)
		}
	}
	h.lost = moved(h.lost)
	for token, at := range h.lostFor {
		h.lostFor[token] = moved(at)
	}
	h.changes++
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// tokenOf returns a product token in lower case, cut to maxToken bytes.
func tokenOf(token string) string {
	return strings.ToLower(token[:min(len(token), maxToken)])
}

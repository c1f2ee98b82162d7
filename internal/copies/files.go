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

// Host is whose robots.txt a file is. It does not contain the host pattern or the listeners
// of a configuration, so a reload that changes these keeps the files.
type Host struct {
	Source        string `json:"source,omitempty"` // the configured source; then ForwardedHost is the only other field
	Secure        bool   `json:"secure,omitempty"`
	Name          string `json:"name,omitempty"`      // in lower case, without a port
	Port          int    `json:"port,omitempty"`      // of the listener, 0 for the default one of the scheme
	ForwardedHost string `json:"forwarded,omitempty"` // the host that a trusted proxy forwards, if it is not Name
}

// String returns the source or the host as a URL without a path and a port.
func (h Host) String() string {
	return policy.Key{Source: h.Source, Secure: h.Secure, Host: h.Name}.String()
}

// Bounds of what is kept of one host. Each host drops its own files only.
const (
	maxCopied         = 16      // files that were our copy
	maxServed         = 16      // other files that were served
	maxServedPerToken = 4       // of these, to one token
	maxTokens         = 256     // product tokens; later ones share the token everyToken
	maxText           = 2 << 20 // bytes of all files
	maxToken          = 64      // bytes of a token
)

// everyToken stands for the tokens for which there is no room. What it was served counts for
// all tokens.
const everyToken = "*"

// proxyExtra is how much longer a file counts behind a trusted proxy if the file states no
// freshness lifetime: the proxy may hand it out for so long.
const proxyExtra = 2 * time.Hour

// file is one robots.txt of a host: all bodies with the same rules.
type file struct {
	digest       [sha256.Size]byte // of the rules
	hash         [sha256.Size]byte // of the last body
	version      *policy.Version   // nil while it is the only file of the host and our copy, which the cache of policies keeps
	robots       weak.Pointer[policy.Robots]
	copied       time.Time            // when it was our copy last, zero for never
	served       map[string]time.Time // when it was served last, by product token
	extra        time.Duration        // how much longer a proxy may hand it out
	inForceUntil time.Time            // until when the change guard keeps it in force, zero if it does not
}

// counts reports whether a crawler with this token may be using the file.
func (f *file) counts(token string, now, ended time.Time, grace time.Duration) bool {
	within := func(last time.Time) bool {
		return last.After(ended) && now.Sub(last) < grace+f.extra
	}
	return within(f.copied) || token != "" && (within(f.served[token]) || within(f.served[everyToken]))
}

// last returns when the file was our copy, was in force or was served last.
func (f *file) last() time.Time {
	last := later(f.copied, f.inForceUntil)
	for _, at := range f.served {
		last = later(last, at)
	}
	return last
}

// files are those of one host. Book.mu guards them.
type files struct {
	host    Host
	named   bool          // the configuration names the host
	grace   time.Duration // that the configuration sets
	all     []*file
	current [sha256.Size]byte // digest of our copy
	noted   time.Time         // when our copy was noted last
	body    [sha256.Size]byte // its body then

	// rulelessSince and rulelessUntil are since when our copies have had no rules and when that
	// was noted last. rulelessSince is zero while our copy has rules.
	rulelessSince, rulelessUntil time.Time

	// lost is until when a dropped file was our copy, and lostFor until when a dropped file
	// was served to a token. What they would allow is not known.
	lost    time.Time
	lostFor map[string]time.Time

	ended   time.Time // files that were used until then at the latest do not count, since the owner says so
	changes uint64    // goes up with each change that is worth storing
}

// find returns the file with these rules, nil if there is none.
func (h *files) find(digest [sha256.Size]byte) *file {
	for _, f := range h.all {
		if f.digest == digest {
			return f
		}
	}
	return nil
}

// digestOf returns the digest of the rules of a version. That of a known body is not computed
// again.
func (h *files) digestOf(v *policy.Version) [sha256.Size]byte {
	for _, f := range h.all {
		if f.hash == v.Hash {
			return f.digest
		}
	}
	return v.Robots.RulesDigest()
}

// tokens returns how many tokens the host has.
func (h *files) tokens() int {
	all := make(map[string]bool)
	for _, f := range h.all {
		for token := range f.served {
			all[token] = true
		}
	}
	return len(all)
}

// knows reports whether a file was served to a token.
func (h *files) knows(token string) bool {
	return slices.ContainsFunc(h.all, func(f *file) bool { return !f.served[token].IsZero() })
}

// expire drops the files and tokens that have not counted for anybody for long.
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

// excess returns the file that has to be dropped to keep within the bounds, nil for none. Our
// current copy is never dropped.
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

// lose notes that a file was dropped although it may count.
func (h *files) lose(f *file) {
	if !f.copied.IsZero() {
		h.lost = later(h.lost, f.copied.Add(f.extra))
	}
	for token, at := range f.served {
		h.loseFor(token, at.Add(f.extra))
	}
}

// loseFor is lose for a file that was served to a token.
func (h *files) loseFor(token string, at time.Time) {
	if h.lostFor == nil {
		h.lostFor = make(map[string]time.Time)
	}
	if _, known := h.lostFor[token]; !known && len(h.lostFor) >= maxTokens {
		token = everyToken
	}
	h.lostFor[token] = later(h.lostFor[token], at)
}

// isLost reports whether a file that was dropped may count for a token.
func (h *files) isLost(token string, now time.Time, grace time.Duration) bool {
	within := func(last time.Time) bool { return last.After(h.ended) && now.Sub(last) < grace }
	return within(h.lost) || token != "" && (within(h.lostFor[token]) || within(h.lostFor[everyToken]))
}

// effectiveAt is [Book.EffectiveAt].
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

// shift moves all times before to forward by the part of the time since from that came after
// them: while our fetches fail no time counts towards the grace.
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

// tokenOf returns a product token as it is kept: in lower case, and not too long.
func tokenOf(token string) string {
	return strings.ToLower(token[:min(len(token), maxToken)])
}

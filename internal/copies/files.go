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

// Host identifies a robots.txt. Host contains no host pattern and no listeners, so the files
// survive a reload that changes these.
type Host struct {
	Source        string `json:"source,omitempty"` // the configured source; only ForwardedHost may also be set
	Secure        bool   `json:"secure,omitempty"`
	Name          string `json:"name,omitempty"`      // in lower case, without a port
	Port          int    `json:"port,omitempty"`      // the port of the listener, 0 for the default port of the scheme
	ForwardedHost string `json:"forwarded,omitempty"` // the host forwarded by a trusted proxy, if different from Name
}

// String returns the source, or the host as a URL without path and port.
func (h Host) String() string {
	return policy.Key{Source: h.Source, Secure: h.Secure, Host: h.Name}.String()
}

// These bounds apply to each host. A host evicts only its own files.
const (
	maxCopiedFiles    = 16      // files used as our copy
	maxServedFiles    = 16      // other served files
	maxServedPerToken = 4       // other files served to a token
	maxTokens         = 256     // product tokens; further tokens share everyToken
	maxTextBytes      = 2 << 20 // bytes of all files
	maxToken          = 64      // bytes of a token
)

// everyToken replaces tokens beyond maxTokens. Files served to everyToken apply to all tokens.
const everyToken = "*"

// proxyExtra is the extra grace behind a trusted proxy for a file without a freshness lifetime.
// During this time the proxy may serve the file from its cache.
const proxyExtra = 2 * time.Hour

// file is a robots.txt of a host. Bodies with the same rules share a file.
//
// If a host has several files, each has a version. A single file can have a nil version. Then robots
// points to the contents, which the policy cache references if the file is our copy. If the contents
// are freed before another file is added, the rules are lost.
type file struct {
	digest  [sha256.Size]byte // of the rules
	hash    [sha256.Size]byte // of the last body
	version *policy.Version   // the contents; nil only for the single file of a host
	robots  weak.Pointer[policy.Robots]
	uses
}

// uses has the times of the uses of a file. It is a part of the stored form.
type uses struct {
	LastCopied time.Time            `json:"copied,omitzero"`  // last time as our copy, or zero
	Served     map[string]time.Time `json:"served,omitempty"` // time of the last response with the file, by product token
	ProxyTime  time.Duration        `json:"extra,omitempty"`  // additional time for which a proxy may serve the file
	HeldUntil  time.Time            `json:"held,omitzero"`    // end of the hold of the change guard, or zero
}

// mayBeUsed reports whether a crawler with this token may use the file. The owner ended the grace of
// uses until graceEnded.
func (f *file) mayBeUsed(token string, now, graceEnded time.Time, grace time.Duration) bool {
	within := func(last time.Time) bool {
		return last.After(graceEnded) && now.Sub(last) < grace+f.ProxyTime
	}
	return within(f.LastCopied) || token != "" && (within(f.Served[token]) || within(f.Served[everyToken]))
}

// lastUse returns the last use of the file: as the guard's copy, held by the change guard, or served
// by the site.
func (f *file) lastUse() time.Time {
	last := later(f.LastCopied, f.HeldUntil)
	for _, at := range f.Served {
		last = later(last, at)
	}
	return last
}

// hostRecord has the files of one host. History.mu guards it.
type hostRecord struct {
	host          Host
	configured    bool          // the host is configured
	grace         time.Duration // the configured grace
	files         []*file
	currentDigest [sha256.Size]byte // digest of our copy
	lastRecorded  time.Time         // last record of our copy
	currentHash   [sha256.Size]byte // hash of our copy at lastRecorded

	missingRules
	revision uint64 // number of changes worth storing
}

// missingRules has the times of copies without rules and of dropped files. It is a part of the stored
// form.
type missingRules struct {
	// RulelessSince is the start of the period in which our copies have no rules, and RulelessUntil
	// its last record. RulelessSince is zero while our copy has rules.
	RulelessSince time.Time `json:"away,omitzero"`
	RulelessUntil time.Time `json:"away_until,omitzero"`

	// LostAt is the last time when a dropped file was our copy. LostAtByToken has the last time when a
	// dropped file was served, by token. The rules of dropped files are unknown.
	LostAt        time.Time            `json:"lost,omitzero"`
	LostAtByToken map[string]time.Time `json:"lost_for,omitempty"`

	GraceEndedAt time.Time `json:"ended,omitzero"` // the owner ended the grace of files used until then
}

// findFile returns the file with these rules, or nil.
func (record *hostRecord) findFile(digest [sha256.Size]byte) *file {
	for _, f := range record.files {
		if f.digest == digest {
			return f
		}
	}
	return nil
}

// digestOf returns the digest of the rules of a version. digestOf reuses the digest of a recorded
// file with the same body.
func (record *hostRecord) digestOf(v *policy.Version) [sha256.Size]byte {
	for _, f := range record.files {
		if f.hash == v.Hash {
			return f.digest
		}
	}
	return v.Robots.RulesDigest()
}

// tokenCount returns the number of product tokens with a served file of the host.
func (record *hostRecord) tokenCount() int {
	all := make(map[string]bool)
	for _, f := range record.files {
		for token := range f.Served {
			all[token] = true
		}
	}
	return len(all)
}

// hasToken reports whether the site served a file to a token.
func (record *hostRecord) hasToken(token string) bool {
	return slices.ContainsFunc(record.files, func(f *file) bool { return !f.Served[token].IsZero() })
}

// removeExpired drops files and tokens older than the horizon.
func (record *hostRecord) removeExpired(now time.Time, horizon time.Duration) (dropped []*file) {
	record.files = slices.DeleteFunc(record.files, func(f *file) bool {
		old := func(at time.Time) bool { return now.Sub(at) >= horizon+f.ProxyTime }
		maps.DeleteFunc(f.Served, func(_ string, at time.Time) bool { return old(at) })
		if f.digest == record.currentDigest || !old(f.lastUse()) {
			return false
		}
		dropped = append(dropped, f)
		return true
	})
	maps.DeleteFunc(record.LostAtByToken, func(_ string, at time.Time) bool { return now.Sub(at) >= horizon })
	return dropped
}

// fileToEvict returns a file beyond the bounds, or nil. It never returns our copy.
func (record *hostRecord) fileToEvict() *file {
	copied, served, text := 0, 0, 0
	var oldestCopy, oldestServed *file
	for _, f := range record.files {
		if f.version != nil {
			text += len(f.version.Robots.Text())
		}
		switch {
		case f.digest == record.currentDigest:
		case f.LastCopied.IsZero():
			served++
			if oldestServed == nil || f.lastUse().Before(oldestServed.lastUse()) {
				oldestServed = f
			}
		default:
			copied++
			if oldestCopy == nil || f.lastUse().Before(oldestCopy.lastUse()) {
				oldestCopy = f
			}
		}
	}
	switch {
	case served > maxServedFiles, text > maxTextBytes && served > 0:
		return oldestServed
	case copied > maxCopiedFiles, text > maxTextBytes && copied > 0:
		return oldestCopy
	}
	return nil
}

// markLost records that a dropped file may still be used by a crawler.
func (record *hostRecord) markLost(f *file) {
	if !f.LastCopied.IsZero() {
		record.LostAt = later(record.LostAt, f.LastCopied.Add(f.ProxyTime))
	}
	for token, at := range f.Served {
		record.markLostFor(token, at.Add(f.ProxyTime))
	}
}

// markLostFor does the same as markLost for one token.
func (record *hostRecord) markLostFor(token string, at time.Time) {
	if record.LostAtByToken == nil {
		record.LostAtByToken = make(map[string]time.Time)
	}
	if _, known := record.LostAtByToken[token]; !known && len(record.LostAtByToken) >= maxTokens {
		token = everyToken
	}
	record.LostAtByToken[token] = later(record.LostAtByToken[token], at)
}

// mayHaveLostFile reports whether a crawler with this token may use a dropped file.
func (record *hostRecord) mayHaveLostFile(token string, now time.Time, grace time.Duration) bool {
	within := func(last time.Time) bool { return last.After(record.GraceEndedAt) && now.Sub(last) < grace }
	return within(record.LostAt) || token != "" && (within(record.LostAtByToken[token]) || within(record.LostAtByToken[everyToken]))
}

// effectiveAt implements [History.EffectiveAt].
func (record *hostRecord) effectiveAt(now time.Time) (at time.Time) {
	for _, f := range record.files {
		if f.digest != record.currentDigest && f.mayBeUsed("", now, record.GraceEndedAt, record.grace) {
			at = later(at, f.LastCopied.Add(record.grace+f.ProxyTime))
		}
	}
	if record.mayHaveLostFile("", now, record.grace) {
		at = later(at, record.LostAt.Add(record.grace))
	}
	return at
}

// extendGrace extends the grace by the time between from and to. Grace does not elapse while our fetches
// fail.
func (record *hostRecord) extendGrace(from, to time.Time) {
	shifted := func(at time.Time) time.Time {
		switch {
		case at.IsZero() || !at.Before(to):
			return at
		case at.Before(from):
			return at.Add(to.Sub(from))
		}
		return to
	}
	for _, f := range record.files {
		f.LastCopied = shifted(f.LastCopied)
		for token, at := range f.Served {
			f.Served[token] = shifted(at)
		}
	}
	record.LostAt = shifted(record.LostAt)
	for token, at := range record.LostAtByToken {
		record.LostAtByToken[token] = shifted(at)
	}
	record.revision++
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// boundedToken returns a product token in lower case, cut to maxToken bytes.
func boundedToken(token string) string {
	return strings.ToLower(token[:min(len(token), maxToken)])
}

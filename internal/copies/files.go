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

// Host identifies a robots.txt whose files are recorded. Host contains no host pattern and no
// listen addresses, so the files survive a reload that changes these.
type Host struct {
	// Source is the configured source. Only ForwardedHost may also be set.
	Source string `json:"source,omitempty"`
	Secure bool   `json:"secure,omitempty"`
	Name   string `json:"name,omitempty"` // Name is in lower case and has no port.
	// Port is the port of the listener, or 0 for the default port of the scheme.
	Port int `json:"port,omitempty"`
	// ForwardedHost is the host forwarded by a trusted proxy, if it differs from Name.
	ForwardedHost string `json:"forwarded,omitempty"`
}

// String returns the source, or else the host as a URL without path and port.
func (h Host) String() string {
	return policy.Key{Source: h.Source, IsHTTPS: h.Secure, Host: h.Name}.String()
}

// These bounds apply to each host. A host evicts only its own files.
const (
	maxCopiedFiles    = 16      // maxCopiedFiles is the maximum number of files that were the guard's copy.
	maxServedFiles    = 16      // maxServedFiles is the maximum number of other served files.
	maxServedPerToken = 4       // maxServedPerToken is the maximum number of other files served to a token.
	maxTokens         = 256     // maxTokens is the maximum number of product tokens. Further tokens share everyToken.
	maxTextBytes      = 2 << 20 // maxTextBytes is the maximum total size of the files in bytes.
	maxToken          = 64      // maxToken is the maximum length of a product token in bytes.
)

// everyToken replaces the empty token and tokens beyond maxTokens. Files served to everyToken apply
// to all tokens.
const everyToken = "*"

// proxyExtra is the extra grace behind a trusted proxy for a file without a freshness lifetime.
// During this time the proxy may serve the file from its cache.
const proxyExtra = 2 * time.Hour

// recordedFile is a robots.txt of a host. Bodies with the same rules share a recordedFile.
//
// If a host has several files, each has a version. A single file can have a nil version. Then
// robots points to the contents, which the policy cache references if the file is the guard's copy.
// If the contents are freed before another file is added, the rules are lost.
type recordedFile struct {
	digest  [sha256.Size]byte // digest is the digest of the parsed rules.
	hash    [sha256.Size]byte // hash is the hash of the body that was recorded last.
	version *policy.Version   // version has the contents. It is nil only for the single file of a host.
	robots  weak.Pointer[policy.Robots]
	fileUses
}

// fileUses has the times at which a robots.txt was used. It is a part of the stored form.
type fileUses struct {
	// LastCopied is the last time at which the file was the guard's copy, or zero.
	LastCopied time.Time `json:"copied,omitzero"`
	// Served has the time of the last response with the file, by product token.
	Served map[string]time.Time `json:"served,omitempty"`
	// ProxyTime is the additional time for which a proxy may serve the file.
	ProxyTime time.Duration `json:"extra,omitempty"`
	// HeldUntil is the end of the hold of the change guard, or zero.
	HeldUntil time.Time `json:"held,omitzero"`
}

// mayBeUsedBy reports whether a crawler with this product token may still use the file, within the
// grace after its last use. If the owner ended the grace, only uses after graceEnded count. The
// empty token selects only the use as the guard's copy.
func (f *recordedFile) mayBeUsedBy(token string, now, graceEnded time.Time, grace time.Duration) bool {
	within := func(last time.Time) bool {
		return last.After(graceEnded) && now.Sub(last) < grace+f.ProxyTime
	}
	return within(f.LastCopied) || token != "" && (within(f.Served[token]) || within(f.Served[everyToken]))
}

// lastUse returns the last time at which the file was used: as the guard's copy, held by the change
// guard, or served by the site.
func (f *recordedFile) lastUse() time.Time {
	last := laterTime(f.LastCopied, f.HeldUntil)
	for _, at := range f.Served {
		last = laterTime(last, at)
	}
	return last
}

// hostRecord has the files of one host. History.mu guards it.
type hostRecord struct {
	host          Host
	configured    bool // configured is true if the configuration names the host.
	grace         time.Duration
	files         []*recordedFile
	currentDigest [sha256.Size]byte // currentDigest is the digest of the guard's copy.
	lastRecorded  time.Time         // lastRecorded is the time of the last record of the guard's copy.
	currentHash   [sha256.Size]byte // currentHash is the hash of the guard's copy at lastRecorded.

	missingRulesTimes
	revision uint64 // revision is the number of changes that have to be stored.
}

// missingRulesTimes has the times for which the rules of a host are missing or unknown. It is a
// part of the stored form.
type missingRulesTimes struct {
	// RulelessSince is the start of the period in which the guard's copies have no rules, and
	// RulelessUntil the last record in this period. RulelessSince is zero while the guard's copy
	// has rules.
	RulelessSince time.Time `json:"away,omitzero"`
	RulelessUntil time.Time `json:"away_until,omitzero"`

	// LostAt is the last time when a dropped file was the guard's copy. LostAtByToken has the last
	// time when a dropped or unreadable file was served, by product token. The rules of these files
	// are unknown.
	LostAt        time.Time            `json:"lost,omitzero"`
	LostAtByToken map[string]time.Time `json:"lost_for,omitempty"`

	// The owner ended the grace of files that were used until GraceEndedAt.
	GraceEndedAt time.Time `json:"ended,omitzero"`
}

// findFile returns the file with these rules, or nil.
func (record *hostRecord) findFile(digest [sha256.Size]byte) *recordedFile {
	for _, f := range record.files {
		if f.digest == digest {
			return f
		}
	}
	return nil
}

// rulesDigest returns the digest of the rules of a version. It reuses the digest of a recorded file
// with the same body.
func (record *hostRecord) rulesDigest(v *policy.Version) [sha256.Size]byte {
	for _, f := range record.files {
		if f.hash == v.Hash {
			return f.digest
		}
	}
	return v.Robots.RulesDigest()
}

// tokenCount returns the number of product tokens to which the site served a recorded file.
func (record *hostRecord) tokenCount() int {
	all := make(map[string]bool)
	for _, f := range record.files {
		for token := range f.Served {
			all[token] = true
		}
	}
	return len(all)
}

// hasToken reports whether the site served a recorded file to a client with this product token.
func (record *hostRecord) hasToken(token string) bool {
	return slices.ContainsFunc(record.files, func(f *recordedFile) bool { return !f.Served[token].IsZero() })
}

// dropExpired removes the files and the product tokens not used for longer than horizon, and
// returns the removed files. It never removes the guard's copy.
func (record *hostRecord) dropExpired(now time.Time, horizon time.Duration) (dropped []*recordedFile) {
	record.files = slices.DeleteFunc(record.files, func(f *recordedFile) bool {
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

// fileToEvict returns the oldest file if the host has too many files or too many bytes, or nil. It
// never returns the guard's copy.
func (record *hostRecord) fileToEvict() *recordedFile {
	copied, served, text := 0, 0, 0
	var oldestCopy, oldestServed *recordedFile
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

// recordLostFile records the last use of a file that is about to be dropped, since a crawler may
// still use its rules.
func (record *hostRecord) recordLostFile(f *recordedFile) {
	if !f.LastCopied.IsZero() {
		record.LostAt = laterTime(record.LostAt, f.LastCopied.Add(f.ProxyTime))
	}
	for token, at := range f.Served {
		record.recordLostFileForToken(token, at.Add(f.ProxyTime))
	}
}

// recordLostFileForToken records that a file whose rules are unknown was served to a product token
// at the given time.
func (record *hostRecord) recordLostFileForToken(token string, at time.Time) {
	if record.LostAtByToken == nil {
		record.LostAtByToken = make(map[string]time.Time)
	}
	if _, known := record.LostAtByToken[token]; !known && len(record.LostAtByToken) >= maxTokens {
		token = everyToken
	}
	record.LostAtByToken[token] = laterTime(record.LostAtByToken[token], at)
}

// mayHaveLostFile reports whether a crawler with this product token may still use a file that was
// dropped or could not be read.
func (record *hostRecord) mayHaveLostFile(token string, now time.Time, grace time.Duration) bool {
	within := func(last time.Time) bool { return last.After(record.GraceEndedAt) && now.Sub(last) < grace }
	return within(record.LostAt) || token != "" && (within(record.LostAtByToken[token]) || within(record.LostAtByToken[everyToken]))
}

// effectiveTime implements [History.EffectiveTime].
func (record *hostRecord) effectiveTime(now time.Time) (at time.Time) {
	for _, f := range record.files {
		if f.digest != record.currentDigest && f.mayBeUsedBy("", now, record.GraceEndedAt, record.grace) {
			at = laterTime(at, f.LastCopied.Add(record.grace+f.ProxyTime))
		}
	}
	if record.mayHaveLostFile("", now, record.grace) {
		at = laterTime(at, record.LostAt.Add(record.grace))
	}
	return at
}

// extendGrace extends the grace of the files by the time between from and to. The grace does not
// elapse while the guard's fetches fail.
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

// laterTime returns the later of two times.
func laterTime(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// normalizeToken returns a product token in lower case, cut to maxToken bytes. The result is a copy:
// the token is a part of the User-Agent, which the stored token would keep in memory.
func normalizeToken(token string) string {
	return strings.Clone(strings.ToLower(token[:min(len(token), maxToken)]))
}

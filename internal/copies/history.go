package copies

import (
	"crypto/sha256"
	"sync"
	"time"
	"weak"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// maxHosts is the maximum number of hosts in a History, for configured hosts and for other hosts.
// The record of a host with one file is small and does not contain the file.
var (
	maxHosts = [2]int{1 << 17, 1 << 14}
	maxBytes = [2]int{256 << 20, 32 << 20} // estimated memory of the files of hosts with several files; equal files share memory
)

// Horizon is the maximum grace of a configuration or a crawler's operator. Older files are dropped.
const Horizon = 7 * 24 * time.Hour

// History records the files of all hosts. It is safe for concurrent use.
type History struct {
	deriveFromRobots func(*policy.Robots) any

	mu             sync.Mutex
	hostSets       [2]hostSet
	versionsByHash map[[sha256.Size]byte]*sharedVersion
}

// hostSet is the set of configured hosts, or the set of other hosts.
type hostSet struct {
	hosts        *simplelru.LRU[Host, *hostRecord]
	versionBytes int
	lastEviction time.Time // time of the last dropped host
}

// sharedVersion is a file shared by several hosts.
type sharedVersion struct {
	version  *policy.Version
	size     int
	numUsers [2]int // number of files, by index into History.hostSets
}

// NewHistory returns an empty History. derive computes [policy.Version.Derived] of each file and may be
// nil.
func NewHistory(derive func(*policy.Robots) any) *History {
	if derive == nil {
		derive = func(*policy.Robots) any { return nil }
	}
	h := &History{deriveFromRobots: derive, versionsByHash: make(map[[sha256.Size]byte]*sharedVersion)}
	for i := range h.hostSets {
		h.hostSets[i].hosts, _ = simplelru.NewLRU[Host, *hostRecord](maxHosts[i], nil) // returns an error only for sizes below 1
	}
	return h
}

// hostSetIndex returns the index into History.hostSets.
func hostSetIndex(configured bool) int {
	if configured {
		return 0
	}
	return 1
}

// record returns the files of a host, or nil if the host has no record. h.mu must be locked.
func (h *History) record(host Host) *hostRecord {
	for i := range h.hostSets {
		if record, ok := h.hostSets[i].hosts.Get(host); ok {
			return record
		}
	}
	return nil
}

// openRecord returns the files of a host, and moves them to the set of configured or of other hosts.
// It adds a record if the host has none. h.mu must be locked.
func (h *History) openRecord(host Host, configured bool, now time.Time) *hostRecord {
	record := h.record(host)
	switch {
	case record != nil && record.configured == configured:
		return record
	case record != nil:
		h.hostSets[hostSetIndex(record.configured)].hosts.Remove(host)
		h.releaseAll(record)
		record.configured = configured
		h.restoreVersions(record)
	default:
		// The host may have been evicted. Its dropped files were used until the last eviction at most.
		record = &hostRecord{host: host, configured: configured, missingRules: missingRules{LostAt: h.hostSets[hostSetIndex(configured)].lastEviction}}
	}
	set := &h.hostSets[hostSetIndex(configured)]
	if set.hosts.Len() >= maxHosts[hostSetIndex(configured)] {
		if _, oldest, ok := set.hosts.RemoveOldest(); ok {
			h.releaseAll(oldest)
			set.lastEviction = now
		}
	}
	set.hosts.Add(host, record)
	return record
}

// setVersion stores the contents of a file, whose version must be nil. Equal files share a version.
// h.mu must be locked.
func (h *History) setVersion(record *hostRecord, f *file, v *policy.Version) {
	s := h.versionsByHash[v.Hash]
	if s == nil {
		s = &sharedVersion{version: v, size: v.Robots.Size()}
		h.versionsByHash[v.Hash] = s
	}
	f.version, f.hash, f.robots = s.version, v.Hash, weak.Make(s.version.Robots)
	if s.numUsers[hostSetIndex(record.configured)]++; s.numUsers[hostSetIndex(record.configured)] == 1 {
		h.hostSets[hostSetIndex(record.configured)].versionBytes += s.size
	}
}

// release reverses setVersion. It does nothing for a file without a version. h.mu must be locked.
func (h *History) release(record *hostRecord, f *file) {
	if f.version == nil {
		return
	}
	s := h.versionsByHash[f.hash]
	if s.numUsers[hostSetIndex(record.configured)]--; s.numUsers[hostSetIndex(record.configured)] == 0 {
		h.hostSets[hostSetIndex(record.configured)].versionBytes -= s.size
	}
	if s.numUsers == [2]int{} {
		delete(h.versionsByHash, f.hash)
	}
	f.version = nil
}

func (h *History) releaseAll(record *hostRecord) {
	for _, f := range record.files {
		h.release(record, f)
	}
}

func (h *History) restoreVersions(record *hostRecord) {
	if len(record.files) < 2 {
		return
	}
	for _, f := range record.files {
		h.restoreVersion(record, f)
	}
}

// restoreVersion stores the contents of a file without a version. It returns false if the contents
// are already freed. h.mu must be locked.
func (h *History) restoreVersion(record *hostRecord, f *file) bool {
	if f.version != nil {
		return true
	}
	v := h.versionOf(f)
	if v == nil {
		return false
	}
	h.setVersion(record, f, v)
	return true
}

// versionOf returns the contents of a file, or nil if the contents are freed. h.mu must be locked.
func (h *History) versionOf(f *file) *policy.Version {
	if f.version != nil {
		return f.version
	}
	if robots := f.robots.Value(); robots != nil {
		return &policy.Version{Robots: robots, Hash: f.hash, Derived: h.deriveFromRobots(robots)}
	}
	return nil
}

// add returns the file with the rules of a version and makes the version the last body. h.mu must
// be locked.
func (h *History) add(record *hostRecord, v *policy.Version, now time.Time) *file {
	digest := record.digestOf(v)
	f := record.findFile(digest)
	switch {
	case f == nil && len(record.files) == 0:
		f = &file{digest: digest, hash: v.Hash, robots: weak.Make(v.Robots)}
		record.files = []*file{f}
		record.revision++
		return f
	case f == nil:
		f = &file{digest: digest}
		previous := record.files[0] // only a single file can lack its version, and its contents may be freed
		if !h.restoreVersion(record, previous) {
			if !previous.LastCopied.IsZero() || previous.digest == record.currentDigest { // not for a file that was only served
				previous.LastCopied = later(previous.LastCopied, now) // the copy may have been in use until now
			}
			record.markLost(previous)
			record.files = record.files[1:]
		}
		h.setVersion(record, f, v)
		record.files = append(record.files, f)
		record.revision++
	case f.hash != v.Hash && f.version != nil: // only a comment differs
		h.release(record, f)
		h.setVersion(record, f, v)
	case f.hash != v.Hash, f.robots.Value() == nil:
		f.hash, f.robots = v.Hash, weak.Make(v.Robots)
	}
	return f
}

// enforceBounds drops files beyond the bounds of the host, then files of the hosts with the largest
// files. h.mu must be locked.
func (h *History) enforceBounds(record *hostRecord, now time.Time) {
	for _, f := range record.removeExpired(now, Horizon) {
		h.release(record, f)
	}
	for f := record.fileToEvict(); f != nil; f = record.fileToEvict() {
		h.dropFile(record, f)
	}
	if len(record.files) == 1 && record.files[0].digest == record.currentDigest { // the policy cache references this file
		h.release(record, record.files[0])
	}
	i := hostSetIndex(record.configured)
	if h.hostSets[i].versionBytes <= maxBytes[i] {
		return
	}
	for h.hostSets[i].versionBytes > maxBytes[i]/8*7 {
		if !h.evictLargestHost(i) {
			return
		}
	}
}

// dropFile removes a file of a host although a crawler may still use the file. h.mu must be locked.
func (h *History) dropFile(record *hostRecord, f *file) {
	record.markLost(f)
	h.release(record, f)
	for i := range record.files {
		if record.files[i] == f {
			record.files = append(record.files[:i], record.files[i+1:]...)
			break
		}
	}
	record.revision++
}

// evictLargestHost drops the oldest file of the host with the most bytes. evictLargestHost returns false if
// no host has several files. h.mu must be locked.
func (h *History) evictLargestHost(i int) bool {
	var largest *hostRecord
	largestSize := 0
	for _, record := range h.hostSets[i].hosts.Values() {
		size := 0
		for _, f := range record.files {
			if f.version != nil {
				size += h.versionsByHash[f.hash].size
			}
		}
		if size > largestSize {
			largest, largestSize = record, size
		}
	}
	if largest == nil {
		return false
	}
	var oldest *file
	for _, f := range largest.files {
		if f.digest != largest.currentDigest && (oldest == nil || f.lastUse().Before(oldest.lastUse())) {
			oldest = f
		}
	}
	if oldest == nil {
		return false
	}
	h.dropFile(largest, oldest)
	if len(largest.files) == 1 && largest.files[0].digest == largest.currentDigest {
		h.release(largest, largest.files[0])
	}
	return true
}

// RequestHost is the host of a request, with the settings for the host.
type RequestHost struct {
	Host
	Configured  bool          // the host is configured
	Grace       time.Duration // the configured grace
	BehindProxy bool          // a trusted proxy forwarded the request; the proxy may have a cache
}

// proxyTime returns how much longer a proxy may serve a version from its cache.
func (o RequestHost) proxyTime(v *policy.Version) time.Duration {
	switch {
	case !o.BehindProxy:
		return 0
	case v.Lifetime == policy.NoLifetime:
		return proxyExtra
	}
	return max(v.Lifetime, 0)
}

// minRecordInterval is the minimum time between two records of an unchanged copy.
const minRecordInterval = time.Minute

// RecordCurrent records our copy of a host and the previous copies.
func (h *History) RecordCurrent(host RequestHost, state *policy.State, now time.Time) {
	if state == nil || state.Current == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	record := h.openRecord(host.Host, host.Configured, now)
	record.grace = host.Grace
	good := state.Current
	if record.currentHash == good.Hash && now.Sub(record.lastRecorded).Abs() < minRecordInterval {
		return
	}
	for i := len(state.Previous) - 1; i >= 0; i-- {
		if v := state.Previous[i]; now.Sub(v.ReplacedAt) < Horizon {
			h.recordCopy(record, host, v, v.ReplacedAt, now)
		}
	}
	h.recordCopy(record, host, good, now, now)
	record.currentDigest, record.currentHash, record.lastRecorded = record.digestOf(good), good.Hash, now
	h.enforceBounds(record, now)
}

// recordCopy records a version as our copy until the given time. A version without rules affects
// verdicts only after our copies had no rules for [policy.MinAbsence], so that a short 404 does not give
// every crawler a day without rules. h.mu must be locked.
func (h *History) recordCopy(record *hostRecord, host RequestHost, v *policy.Version, until, now time.Time) {
	if !v.Robots.HasGroups() {
		if !until.After(record.RulelessUntil) {
			return
		}
		if record.RulelessSince.IsZero() {
			record.RulelessSince = v.FirstFetched
		}
		record.RulelessUntil = until
		if f := h.add(record, v, now); record.RulelessUntil.Sub(record.RulelessSince) >= policy.MinAbsence {
			f.LastCopied, f.ProxyTime = later(f.LastCopied, until), max(f.ProxyTime, host.proxyTime(v))
		}
		return
	}
	f := h.add(record, v, now)
	if until.After(f.LastCopied) {
		f.LastCopied = until
		if until.After(record.RulelessUntil) {
			record.RulelessSince = time.Time{}
		}
	}
	f.ProxyTime = max(f.ProxyTime, host.proxyTime(v))
}

// RecordServed records that the site served a version to a client with this product token. The version may
// differ from our copy.
func (h *History) RecordServed(host RequestHost, token string, v *policy.Version, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	record := h.openRecord(host.Host, host.Configured, now)
	token = record.tokenOrOverflow(boundedToken(token))
	f := h.add(record, v, now)
	if f.Served == nil {
		f.Served = make(map[string]time.Time)
	}
	if now.Sub(f.Served[token]) >= minRecordInterval {
		record.revision++
	}
	f.Served[token] = later(f.Served[token], now)
	f.ProxyTime = max(f.ProxyTime, host.proxyTime(v))
	record.limitTokens(token)
	h.enforceBounds(record, now)
}

// RecordServedUnknown records that the site served an unreadable file, for example with an unknown
// Content-Encoding. The file may allow anything.
func (h *History) RecordServedUnknown(host RequestHost, token string, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	record := h.openRecord(host.Host, host.Configured, now)
	record.markLostFor(record.tokenOrOverflow(boundedToken(token)), now)
	record.revision++
}

// tokenOrOverflow returns the token under which files served to a client are recorded.
func (record *hostRecord) tokenOrOverflow(token string) string {
	if token == "" || !record.hasToken(token) && record.tokenCount() >= maxTokens {
		return everyToken
	}
	return token
}

// limitTokens drops the oldest file of a token if more files than allowed were served to the token.
// A file used as our copy stays.
func (record *hostRecord) limitTokens(token string) {
	var oldest *file
	n := 0
	for _, f := range record.files {
		if at := f.Served[token]; !at.IsZero() && f.digest != record.currentDigest {
			n++
			if oldest == nil || at.Before(oldest.Served[token]) {
				oldest = f
			}
		}
	}
	if n > maxServedPerToken {
		record.markLostFor(token, oldest.Served[token].Add(oldest.ProxyTime))
		delete(oldest.Served, token)
	}
}

// PossiblyUsed returns the files, except our copy, that a crawler with this product token may use
// at now. The empty token selects only files that were our copy. lost is true if a usable file was
// dropped, so its rules are unknown. While our fetches fail, now must be the time of the first
// failure.
func (h *History) PossiblyUsed(host Host, token string, copy *policy.Version, now time.Time, grace time.Duration) (versions []*policy.Version, lost bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	record := h.record(host)
	if record == nil {
		return nil, false
	}
	if len(record.files) > 1 || len(record.LostAtByToken) > 0 { // rare; folding a token may allocate
		token = boundedToken(token)
	}
	for _, f := range record.files {
		if f.hash == copy.Hash || f.digest == record.currentDigest && record.currentHash == copy.Hash || !f.mayBeUsed(token, now, record.GraceEndedAt, grace) {
			continue
		}
		if v := h.versionOf(f); v != nil {
			versions = append(versions, v)
		} else {
			lost = true
		}
	}
	return versions, lost || record.mayHaveLostFile(token, now, grace)
}

// Current returns our latest copy for a host, or nil.
func (h *History) Current(host Host) *policy.Robots {
	h.mu.Lock()
	defer h.mu.Unlock()
	if record := h.record(host); record != nil {
		if f := record.findFile(record.currentDigest); f != nil {
			return f.robots.Value()
		}
	}
	return nil
}

// ExtendGrace extends the grace of a host by the time in which our fetches failed.
func (h *History) ExtendGrace(host Host, from, to time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if record := h.record(host); record != nil && to.After(from) {
		record.extendGrace(from, to)
	}
}

// SetHeldUntil records that a hold of the change guard keeps an older file in force until the given
// time. If until is now, the older file is no longer in force.
func (h *History) SetHeldUntil(host RequestHost, v *policy.Version, until, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	record := h.openRecord(host.Host, host.Configured, now)
	if f := h.add(record, v, now); !f.HeldUntil.Equal(until) {
		f.HeldUntil = until
		record.revision++
	}
	h.enforceBounds(record, now)
}

// HeldVersions returns the older files of a host with a hold of the change guard at now.
func (h *History) HeldVersions(host Host, now time.Time) (held []*policy.Version) {
	h.mu.Lock()
	defer h.mu.Unlock()
	record := h.record(host)
	if record == nil {
		return nil
	}
	for _, f := range record.files {
		if f.version != nil && now.Before(f.HeldUntil) && f.digest != record.currentDigest {
			held = append(held, f.version)
		}
	}
	return held
}

// EffectiveAt returns the time from which crawlers may use only our copy. The site may have served
// a different file to a crawler, which EffectiveAt ignores. The zero time means now.
func (h *History) EffectiveAt(host Host, now time.Time) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if record := h.record(host); record != nil {
		return record.effectiveAt(now)
	}
	return time.Time{}
}

// Pending returns the hosts with a nonzero EffectiveAt.
func (h *History) Pending(now time.Time) map[Host]time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	pending := make(map[Host]time.Time)
	for i := range h.hostSets {
		for _, record := range h.hostSets[i].hosts.Values() {
			if at := record.effectiveAt(now); !at.IsZero() {
				pending[record.host] = at
			}
		}
	}
	return pending
}

// EndGrace ends the grace of all previous files of the hosts for which matches returns true.
func (h *History) EndGrace(matches func(Host) bool, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.hostSets {
		for _, record := range h.hostSets[i].hosts.Values() {
			if !matches(record.host) {
				continue
			}
			record.GraceEndedAt = later(record.GraceEndedAt, now)
			for _, f := range record.files {
				if f.digest != record.currentDigest {
					record.GraceEndedAt = later(record.GraceEndedAt, f.LastCopied) // perhaps from another clock
				}
			}
			record.revision++
		}
	}
}

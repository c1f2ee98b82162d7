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
	// maxBytes is the estimated memory of the files of hosts with several files. Equal files share
	// memory.
	maxBytes = [2]int{256 << 20, 32 << 20}
)

// Horizon is the maximum grace of a configuration or a crawler's operator. Older files are dropped.
const Horizon = 7 * 24 * time.Hour

// History records the robots.txt files that crawlers may be using, for all hosts. It is safe for
// concurrent use.
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
	lastEviction time.Time // lastEviction is the time of the last dropped host.
}

// sharedVersion is the content of a robots.txt that several hosts may share.
type sharedVersion struct {
	version  *policy.Version
	size     int
	numUsers [2]int // numUsers is the number of files, by index into History.hostSets.
}

// NewHistory returns an empty History. derive computes the [policy.Version.Derived] of each
// restored file. A nil derive leaves it nil.
func NewHistory(derive func(*policy.Robots) any) *History {
	if derive == nil {
		derive = func(*policy.Robots) any { return nil }
	}
	h := &History{deriveFromRobots: derive, versionsByHash: make(map[[sha256.Size]byte]*sharedVersion)}
	for i := range h.hostSets {
		// This returns an error only for sizes below 1.
		h.hostSets[i].hosts, _ = simplelru.NewLRU[Host, *hostRecord](maxHosts[i], nil)
	}
	return h
}

// hostSetIndex returns the index into History.hostSets: 0 for configured hosts, 1 for other hosts.
func hostSetIndex(configured bool) int {
	if configured {
		return 0
	}
	return 1
}

// findRecord returns the record of a host, or nil if the host has none. h.mu must be locked.
func (h *History) findRecord(host Host) *hostRecord {
	for i := range h.hostSets {
		if record, ok := h.hostSets[i].hosts.Get(host); ok {
			return record
		}
	}
	return nil
}

// getOrAddRecord returns the record of a host, and adds a record if the host has none. It moves the
// record to the set of configured or of other hosts. h.mu must be locked.
func (h *History) getOrAddRecord(host Host, configured bool, now time.Time) *hostRecord {
	record := h.findRecord(host)
	switch {
	case record != nil && record.configured == configured:
		return record
	case record != nil:
		h.hostSets[hostSetIndex(record.configured)].hosts.Remove(host)
		for _, f := range record.files {
			if f.version != nil {
				shared := h.versionsByHash[f.hash]
				h.addUsers(shared, record.configured, -1)
				h.addUsers(shared, configured, 1)
			}
		}
		record.configured = configured
	default:
		// The host may have been evicted. Its dropped files were used until the last eviction at most.
		record = &hostRecord{host: host, configured: configured, missingRulesTimes: missingRulesTimes{LostAt: h.hostSets[hostSetIndex(configured)].lastEviction}}
	}
	set := &h.hostSets[hostSetIndex(configured)]
	if set.hosts.Len() >= maxHosts[hostSetIndex(configured)] {
		if _, oldest, ok := set.hosts.RemoveOldest(); ok {
			h.releaseVersions(oldest)
			set.lastEviction = now
		}
	}
	set.hosts.Add(host, record)
	return record
}

// setVersion stores the contents of a file, whose version must be nil. Equal files share a version.
// h.mu must be locked.
func (h *History) setVersion(record *hostRecord, f *recordedFile, v *policy.Version) {
	s := h.versionsByHash[v.Hash]
	if s == nil {
		s = &sharedVersion{version: v, size: v.Robots.Size()}
		h.versionsByHash[v.Hash] = s
	}
	f.version, f.hash, f.robots = s.version, v.Hash, weak.Make(s.version.Robots)
	h.addUsers(s, record.configured, 1)
}

// addUsers adds n, which is 1 or -1, to the number of files that use a version in a set of hosts.
// The memory of a version is counted once in each set that uses it. h.mu must be locked.
func (h *History) addUsers(s *sharedVersion, configured bool, n int) {
	i := hostSetIndex(configured)
	before := s.numUsers[i]
	s.numUsers[i] += n
	switch {
	case before == 0:
		h.hostSets[i].versionBytes += s.size
	case s.numUsers[i] == 0:
		h.hostSets[i].versionBytes -= s.size
	}
}

// releaseVersion frees the contents that setVersion stored for a file. It does nothing for a file
// without a version. h.mu must be locked.
func (h *History) releaseVersion(record *hostRecord, f *recordedFile) {
	if f.version == nil {
		return
	}
	s := h.versionsByHash[f.hash]
	h.addUsers(s, record.configured, -1)
	if s.numUsers == [2]int{} {
		delete(h.versionsByHash, f.hash)
	}
	f.version = nil
}

func (h *History) releaseVersions(record *hostRecord) {
	for _, f := range record.files {
		h.releaseVersion(record, f)
	}
}

// restoreVersion stores the contents of a file without a version again. restoreVersion returns
// false if the garbage collector has freed the contents. h.mu must be locked.
func (h *History) restoreVersion(record *hostRecord, f *recordedFile) bool {
	if f.version != nil {
		return true
	}
	v := h.getVersion(f)
	if v == nil {
		return false
	}
	h.setVersion(record, f, v)
	return true
}

// getVersion returns the contents of a file, or nil if the garbage collector has freed them. h.mu
// must be locked.
func (h *History) getVersion(f *recordedFile) *policy.Version {
	if f.version != nil {
		return f.version
	}
	if robots := f.robots.Value(); robots != nil {
		return &policy.Version{Robots: robots, Hash: f.hash, Derived: h.deriveFromRobots(robots)}
	}
	return nil
}

// addVersion returns the file with the rules of a version, and adds the file if necessary. The
// version becomes the last body of the file. h.mu must be locked.
func (h *History) addVersion(record *hostRecord, v *policy.Version, now time.Time) *recordedFile {
	digest := record.rulesDigest(v)
	f := record.findFile(digest)
	switch {
	case f == nil && len(record.files) == 0: // The policy cache normally references the contents of the only file.
		f = &recordedFile{digest: digest, hash: v.Hash, robots: weak.Make(v.Robots)}
		record.files = []*recordedFile{f}
		record.revision++
		return f
	case f == nil:
		f = &recordedFile{digest: digest}
		// From the second file on, the history references the contents. Those of the first file may
		// have been freed.
		previous := record.files[0]
		if !h.restoreVersion(record, previous) {
			// A file that was only served was never a copy.
			if !previous.LastCopied.IsZero() || previous.digest == record.currentDigest {
				previous.LastCopied = laterTime(previous.LastCopied, now) // The copy may have been in use until now.
			}
			record.recordLostFile(previous)
			record.files = record.files[1:]
		}
		h.setVersion(record, f, v)
		record.files = append(record.files, f)
		record.revision++
	case f.hash != v.Hash && f.version != nil: // The rules are equal, for example because only a comment differs.
		h.releaseVersion(record, f)
		h.setVersion(record, f, v)
	case f.hash != v.Hash, f.robots.Value() == nil:
		f.hash, f.robots = v.Hash, weak.Make(v.Robots)
	}
	return f
}

// enforceBounds drops expired files of a host, then files beyond the bounds of the host. If h has
// too many bytes, enforceBounds then drops files of the hosts with the most bytes. h.mu must be
// locked.
func (h *History) enforceBounds(record *hostRecord, now time.Time) {
	for _, f := range record.dropExpired(now, Horizon) {
		h.releaseVersion(record, f)
	}
	for f := record.fileToEvict(); f != nil; f = record.fileToEvict() {
		h.dropFile(record, f)
	}
	// The policy cache references this file.
	if len(record.files) == 1 && record.files[0].digest == record.currentDigest {
		h.releaseVersion(record, record.files[0])
	}
	i := hostSetIndex(record.configured)
	if h.hostSets[i].versionBytes <= maxBytes[i] {
		return
	}
	for h.hostSets[i].versionBytes > maxBytes[i]/8*7 {
		if !h.evictFileOfLargestHost(i) {
			return
		}
	}
}

// dropFile removes a file of a host although a crawler may still use the file, and records this.
// h.mu must be locked.
func (h *History) dropFile(record *hostRecord, f *recordedFile) {
	record.recordLostFile(f)
	h.releaseVersion(record, f)
	for i := range record.files {
		if record.files[i] == f {
			record.files = append(record.files[:i], record.files[i+1:]...)
			break
		}
	}
	record.revision++
}

// evictFileOfLargestHost drops the oldest file of the host with the most bytes, in the set of hosts
// with index i. evictFileOfLargestHost returns false if no host has several files. h.mu must be
// locked.
func (h *History) evictFileOfLargestHost(i int) bool {
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
	var oldest *recordedFile
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
		h.releaseVersion(largest, largest.files[0])
	}
	return true
}

// RequestHost is the host of a request, with the settings for this host.
type RequestHost struct {
	Host
	Configured bool          // Configured is true if the configuration names the host.
	Grace      time.Duration // Grace is the grace of the site's guard.
	// BehindProxy is true if a trusted proxy forwarded the request. The proxy may have a cache.
	BehindProxy bool
}

// proxyCacheTime returns the additional time for which crawlers may get a version from the cache of
// a proxy in front of Caddy.
func (o RequestHost) proxyCacheTime(v *policy.Version) time.Duration {
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

// RecordCurrentCopy records the guard's copy of a host and the copies before it.
func (h *History) RecordCurrentCopy(host RequestHost, state *policy.State, now time.Time) {
	if state == nil || state.Current == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	record := h.getOrAddRecord(host.Host, host.Configured, now)
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
	record.currentDigest, record.currentHash, record.lastRecorded = record.rulesDigest(good), good.Hash, now
	h.enforceBounds(record, now)
}

// recordCopy records that a version was the guard's copy until the given time. A version without
// rules affects verdicts only after the guard's copies had no rules for [policy.MinAbsence], so
// that a short 404 does not give every crawler a day without rules. h.mu must be locked.
func (h *History) recordCopy(record *hostRecord, host RequestHost, v *policy.Version, until, now time.Time) {
	if !v.Robots.HasGroups() {
		if !until.After(record.RulelessUntil) {
			return
		}
		if record.RulelessSince.IsZero() {
			record.RulelessSince = v.FirstFetched
		}
		record.RulelessUntil = until
		if f := h.addVersion(record, v, now); record.RulelessUntil.Sub(record.RulelessSince) >= policy.MinAbsence {
			f.LastCopied, f.ProxyTime = laterTime(f.LastCopied, until), max(f.ProxyTime, host.proxyCacheTime(v))
		}
		return
	}
	f := h.addVersion(record, v, now)
	if until.After(f.LastCopied) {
		f.LastCopied = until
		if until.After(record.RulelessUntil) {
			record.RulelessSince = time.Time{}
		}
	}
	f.ProxyTime = max(f.ProxyTime, host.proxyCacheTime(v))
}

// RecordServedFile records that the site served a version to a client with this product token. The
// version may differ from the guard's copy.
func (h *History) RecordServedFile(host RequestHost, token string, v *policy.Version, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	record := h.getOrAddRecord(host.Host, host.Configured, now)
	token = record.tokenOrOverflow(normalizeToken(token))
	f := h.addVersion(record, v, now)
	if f.Served == nil {
		f.Served = make(map[string]time.Time)
	}
	if now.Sub(f.Served[token]) >= minRecordInterval {
		record.revision++
	}
	f.Served[token] = laterTime(f.Served[token], now)
	f.ProxyTime = max(f.ProxyTime, host.proxyCacheTime(v))
	record.limitFilesOfToken(token)
	h.enforceBounds(record, now)
}

// RecordServedUnreadable records that the site served a file that the guard cannot read, for
// example with an unknown Content-Encoding. The file may allow anything.
func (h *History) RecordServedUnreadable(host RequestHost, token string, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	record := h.getOrAddRecord(host.Host, host.Configured, now)
	record.recordLostFileForToken(record.tokenOrOverflow(normalizeToken(token)), now)
	record.revision++
}

// tokenOrOverflow returns the product token under which files served to a client are recorded: the
// token itself, or everyToken if the token is empty or the host has too many tokens.
func (record *hostRecord) tokenOrOverflow(token string) string {
	if token == "" || !record.hasToken(token) && record.tokenCount() >= maxTokens {
		return everyToken
	}
	return token
}

// limitFilesOfToken forgets that the oldest file was served to a product token, if the token was
// served too many files. The guard's copy does not count.
func (record *hostRecord) limitFilesOfToken(token string) {
	var oldest *recordedFile
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
		record.recordLostFileForToken(token, oldest.Served[token].Add(oldest.ProxyTime))
		delete(oldest.Served, token)
	}
}

// PossiblyUsedVersions returns the files that a crawler with this product token may use at the time
// now, except the guard's current copy. grace is the time for which a crawler may use a file. The
// empty token selects only files that were the guard's copy. lost is true if the crawler may use a
// file whose rules are unknown, because it was dropped or could not be read. While the guard's
// fetches fail, now must be the time of the first failure.
func (h *History) PossiblyUsedVersions(host Host, token string, copy *policy.Version, now time.Time, grace time.Duration) (versions []*policy.Version, lost bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	record := h.findRecord(host)
	if record == nil {
		return nil, false
	}
	if len(record.files) > 1 || len(record.LostAtByToken) > 0 { // This is rare. Folding a token may allocate.
		token = normalizeToken(token)
	}
	for _, f := range record.files {
		if f.hash == copy.Hash || f.digest == record.currentDigest && record.currentHash == copy.Hash || !f.mayBeUsedBy(token, now, record.GraceEndedAt, grace) {
			continue
		}
		if v := h.getVersion(f); v != nil {
			versions = append(versions, v)
		} else {
			lost = true
		}
	}
	return versions, lost || record.mayHaveLostFile(token, now, grace)
}

// CurrentCopy returns the guard's latest copy of a host's robots.txt, or nil.
func (h *History) CurrentCopy(host Host) *policy.Robots {
	h.mu.Lock()
	defer h.mu.Unlock()
	if record := h.findRecord(host); record != nil {
		if f := record.findFile(record.currentDigest); f != nil {
			return f.robots.Value()
		}
	}
	return nil
}

// ExtendGrace extends the grace of a host by the time between from and to, in which the guard's
// fetches failed.
func (h *History) ExtendGrace(host Host, from, to time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if record := h.findRecord(host); record != nil && to.After(from) {
		record.extendGrace(from, to)
	}
}

// SetHeldUntil records that a hold of the change guard keeps an older file in force until the given
// time. If until is now, the hold has ended.
func (h *History) SetHeldUntil(host RequestHost, v *policy.Version, until, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	record := h.getOrAddRecord(host.Host, host.Configured, now)
	if f := h.addVersion(record, v, now); !f.HeldUntil.Equal(until) {
		f.HeldUntil = until
		record.revision++
	}
	h.enforceBounds(record, now)
}

// HeldVersions returns the older files that a hold of the change guard keeps in force at now.
func (h *History) HeldVersions(host Host, now time.Time) (held []*policy.Version) {
	h.mu.Lock()
	defer h.mu.Unlock()
	record := h.findRecord(host)
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

// EffectiveTime returns the time from which crawlers may use only the guard's current copy of a
// host. The zero time means now. EffectiveTime ignores files that the site served to crawlers and
// that were never the guard's copy.
func (h *History) EffectiveTime(host Host, now time.Time) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if record := h.findRecord(host); record != nil {
		return record.effectiveTime(now)
	}
	return time.Time{}
}

// PendingEffectiveTimes returns the [History.EffectiveTime] of each host for which crawlers may
// still use an older copy.
func (h *History) PendingEffectiveTimes(now time.Time) map[Host]time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	pending := make(map[Host]time.Time)
	for i := range h.hostSets {
		for _, record := range h.hostSets[i].hosts.Values() {
			if at := record.effectiveTime(now); !at.IsZero() {
				pending[record.host] = at
			}
		}
	}
	return pending
}

// EndGrace ends the grace of all previous files of those hosts for which matches returns true.
func (h *History) EndGrace(matches func(Host) bool, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.hostSets {
		for _, record := range h.hostSets[i].hosts.Values() {
			if !matches(record.host) {
				continue
			}
			record.GraceEndedAt = laterTime(record.GraceEndedAt, now)
			for _, f := range record.files {
				if f.digest != record.currentDigest {
					// The time may be from another instance with another clock.
					record.GraceEndedAt = laterTime(record.GraceEndedAt, f.LastCopied)
				}
			}
			record.revision++
		}
	}
}

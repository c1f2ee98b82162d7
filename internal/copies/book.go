package copies

import (
	"crypto/sha256"
	"sync"
	"time"
	"weak"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// maxHosts bounds the hosts of a Book, for configured hosts and for other hosts. A host with one
// file has a small record without the file.
var (
	maxHosts = [2]int{1 << 17, 1 << 14}
	maxBytes = [2]int{256 << 20, 32 << 20} // estimated memory of the files of hosts with several files; equal files share memory
)

// Horizon is the longest grace that a configuration or a crawler's operator may set. Older files
// are dropped.
const Horizon = 7 * 24 * time.Hour

// Book records the files of all hosts. It is safe for concurrent use.
type Book struct {
	derive func(*policy.Robots) any

	mu     sync.Mutex
	parts  [2]part
	shared map[[sha256.Size]byte]*sharedVersion
}

// part is the set of configured hosts, or the set of other hosts.
type part struct {
	hosts     *simplelru.LRU[Host, *files]
	bytes     int
	forgotten time.Time // time of the last dropped host
}

// sharedVersion is a file that several hosts may share.
type sharedVersion struct {
	version *policy.Version
	size    int
	users   [2]int // by part
}

// NewBook returns an empty Book. derive computes [policy.Version.Derived] of each file and may be
// nil.
func NewBook(derive func(*policy.Robots) any) *Book {
	if derive == nil {
		derive = func(*policy.Robots) any { return nil }
	}
	b := &Book{derive: derive, shared: make(map[[sha256.Size]byte]*sharedVersion)}
	for i := range b.parts {
		b.parts[i].hosts, _ = simplelru.NewLRU[Host, *files](maxHosts[i], nil) // returns an error only for sizes below 1
	}
	return b
}

func partOf(named bool) int {
	if named {
		return 0
	}
	return 1
}

// get returns the files of a host, or nil if the host has no record. b.mu must be locked.
func (b *Book) get(host Host) *files {
	for i := range b.parts {
		if h, ok := b.parts[i].hosts.Get(host); ok {
			return h
		}
	}
	return nil
}

// open returns the files of a host, in the part for named or other hosts. It adds a record if the
// host has none. b.mu must be locked.
func (b *Book) open(host Host, named bool, now time.Time) *files {
	h := b.get(host)
	switch {
	case h != nil && h.named == named:
		return h
	case h != nil:
		b.parts[partOf(h.named)].hosts.Remove(host)
		b.releaseAll(h)
		h.named = named
		b.keepAll(h)
	default:
		h = &files{host: host, named: named, lost: b.parts[partOf(named)].forgotten}
	}
	p := &b.parts[partOf(named)]
	if p.hosts.Len() >= maxHosts[partOf(named)] {
		if _, oldest, ok := p.hosts.RemoveOldest(); ok {
			b.releaseAll(oldest)
			p.forgotten = now
		}
	}
	p.hosts.Add(host, h)
	return h
}

// keep stores a version for a file. Equal files share a version. b.mu must be locked.
func (b *Book) keep(h *files, f *file, v *policy.Version) {
	s := b.shared[v.Hash]
	if s == nil {
		s = &sharedVersion{version: v, size: v.Robots.Size()}
		b.shared[v.Hash] = s
	}
	f.version, f.hash, f.robots = s.version, v.Hash, weak.Make(s.version.Robots)
	if s.users[partOf(h.named)]++; s.users[partOf(h.named)] == 1 {
		b.parts[partOf(h.named)].bytes += s.size
	}
}

// release reverses keep. b.mu must be locked.
func (b *Book) release(h *files, f *file) {
	if f.version == nil {
		return
	}
	s := b.shared[f.hash]
	if s.users[partOf(h.named)]--; s.users[partOf(h.named)] == 0 {
		b.parts[partOf(h.named)].bytes -= s.size
	}
	if s.users == [2]int{} {
		delete(b.shared, f.hash)
	}
	f.version = nil
}

func (b *Book) releaseAll(h *files) {
	for _, f := range h.all {
		b.release(h, f)
	}
}

func (b *Book) keepAll(h *files) {
	if len(h.all) < 2 {
		return
	}
	for _, f := range h.all {
		b.retain(h, f)
	}
}

// retain stores the contents of a file that so far only the policy cache references. It returns
// false if the contents were freed. b.mu must be locked.
func (b *Book) retain(h *files, f *file) bool {
	if f.version != nil {
		return true
	}
	robots := f.robots.Value()
	if robots == nil {
		return false
	}
	b.keep(h, f, &policy.Version{Robots: robots, Hash: f.hash, Derived: b.derive(robots)})
	return true
}

// add returns the file with the rules of a version and makes the version the last body. b.mu must
// be locked.
func (b *Book) add(h *files, v *policy.Version, now time.Time) *file {
	digest := h.digestOf(v)
	f := h.find(digest)
	switch {
	case f == nil && len(h.all) == 0:
		f = &file{digest: digest, hash: v.Hash, robots: weak.Make(v.Robots)}
		h.all = []*file{f}
		h.changes++
		return f
	case f == nil:
		f = &file{digest: digest}
		before := h.all[0] // may have only a digest
		if !b.retain(h, before) {
			before.copied = later(before.copied, now) // it may have been our copy until now
			h.lose(before)
			h.all = h.all[1:]
		}
		b.keep(h, f, v)
		h.all = append(h.all, f)
		h.changes++
	case f.hash != v.Hash && f.version != nil: // only a comment differs
		b.release(h, f)
		b.keep(h, f, v)
	case f.hash != v.Hash, f.robots.Value() == nil:
		f.hash, f.robots = v.Hash, weak.Make(v.Robots)
	}
	return f
}

// bound drops files that exceed the bounds of the host, then those of the hosts with the largest
// files. b.mu must be locked.
func (b *Book) bound(h *files, now time.Time) {
	for _, f := range h.expire(now, Horizon) {
		b.release(h, f)
	}
	for f := h.excess(); f != nil; f = h.excess() {
		b.drop(h, f)
	}
	if len(h.all) == 1 && h.all[0].digest == h.current { // the policy cache references this file
		b.release(h, h.all[0])
	}
	i := partOf(h.named)
	if b.parts[i].bytes <= maxBytes[i] {
		return
	}
	for b.parts[i].bytes > maxBytes[i]/8*7 {
		if !b.dropLargest(i) {
			return
		}
	}
}

// drop removes a file of a host although a crawler may still use the file. b.mu must be locked.
func (b *Book) drop(h *files, f *file) {
	h.lose(f)
	b.release(h, f)
	for i := range h.all {
		if h.all[i] == f {
			h.all = append(h.all[:i], h.all[i+1:]...)
			break
		}
	}
	h.changes++
}

// dropLargest drops the oldest file of the host with the most bytes. It returns false if no host
// has several files. b.mu must be locked.
func (b *Book) dropLargest(i int) bool {
	var largest *files
	most := 0
	for _, h := range b.parts[i].hosts.Values() {
		size := 0
		for _, f := range h.all {
			if f.version != nil {
				size += b.shared[f.hash].size
			}
		}
		if size > most {
			largest, most = h, size
		}
	}
	if largest == nil {
		return false
	}
	var oldest *file
	for _, f := range largest.all {
		if f.digest != largest.current && (oldest == nil || f.last().Before(oldest.last())) {
			oldest = f
		}
	}
	if oldest == nil {
		return false
	}
	b.drop(largest, oldest)
	if len(largest.all) == 1 && largest.all[0].digest == largest.current {
		b.release(largest, largest.all[0])
	}
	return true
}

// Of is the host of a request, with the settings for the host.
type Of struct {
	Host
	Named   bool          // the host is configured
	Grace   time.Duration // the configured grace
	Proxied bool          // a trusted proxy forwarded the request; the proxy may have a cache
}

// extra returns how much longer a proxy may serve a version from its cache.
func (o Of) extra(v *policy.Version) time.Duration {
	switch {
	case !o.Proxied:
		return 0
	case v.Lifetime == policy.NoLifetime:
		return proxyExtra
	}
	return max(v.Lifetime, 0)
}

// noteInterval is the minimum time between two records of an unchanged copy.
const noteInterval = time.Minute

// Note records our copy of a host and the previous copies.
func (b *Book) Note(of Of, state *policy.State, now time.Time) {
	if state == nil || state.Good == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.open(of.Host, of.Named, now)
	h.grace = of.Grace
	good := state.Good
	if h.body == good.Hash && now.Sub(h.noted).Abs() < noteInterval {
		return
	}
	for i := len(state.Past) - 1; i >= 0; i-- {
		if v := state.Past[i]; now.Sub(v.Until) < Horizon {
			b.noteCopy(h, of, v, v.Until, now)
		}
	}
	b.noteCopy(h, of, good, now, now)
	h.current, h.body, h.noted = h.digestOf(good), good.Hash, now
	b.bound(h, now)
}

// noteCopy records that a version was our copy until the given time. A version without rules
// affects verdicts only after our copies had no rules for [policy.Absence]. b.mu must be locked.
func (b *Book) noteCopy(h *files, of Of, v *policy.Version, until, now time.Time) {
	if !v.Robots.HasGroups() {
		if !until.After(h.rulelessUntil) {
			return
		}
		if h.rulelessSince.IsZero() {
			h.rulelessSince = v.FirstRead
		}
		h.rulelessUntil = until
		if f := b.add(h, v, now); h.rulelessUntil.Sub(h.rulelessSince) >= policy.Absence {
			f.copied, f.extra = later(f.copied, until), max(f.extra, of.extra(v))
		}
		return
	}
	f := b.add(h, v, now)
	if until.After(f.copied) {
		f.copied = until
		if until.After(h.rulelessUntil) {
			h.rulelessSince = time.Time{}
		}
	}
	f.extra = max(f.extra, of.extra(v))
}

// Serve records that the site served a version to a client with this product token. The version may
// differ from our copy.
func (b *Book) Serve(of Of, token string, v *policy.Version, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.open(of.Host, of.Named, now)
	token = h.roomFor(tokenOf(token))
	f := b.add(h, v, now)
	if f.served == nil {
		f.served = make(map[string]time.Time)
	}
	if now.Sub(f.served[token]) >= noteInterval {
		h.changes++
	}
	f.served[token] = later(f.served[token], now)
	f.extra = max(f.extra, of.extra(v))
	h.boundToken(token)
	b.bound(h, now)
}

// ServeUnknown records that the site served an unreadable file, for example with an unknown
// Content-Encoding. The file may allow anything.
func (b *Book) ServeUnknown(of Of, token string, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.open(of.Host, of.Named, now)
	h.loseFor(h.roomFor(tokenOf(token)), now)
	h.changes++
}

// roomFor returns the token under which files served to a client are recorded.
func (h *files) roomFor(token string) string {
	if token == "" || !h.knows(token) && h.tokens() >= maxTokens {
		return everyToken
	}
	return token
}

// boundToken drops the oldest file served to a token if the token has too many. A file that was our
// copy stays.
func (h *files) boundToken(token string) {
	var oldest *file
	n := 0
	for _, f := range h.all {
		if at := f.served[token]; !at.IsZero() && f.digest != h.current {
			n++
			if oldest == nil || at.Before(oldest.served[token]) {
				oldest = f
			}
		}
	}
	if n > maxServedPerToken {
		h.loseFor(token, oldest.served[token].Add(oldest.extra))
		delete(oldest.served, token)
	}
}

// Others returns the files, except our copy, that a crawler with this product token may use at now.
// The empty token selects only files that were our copy. lost is true if such a file was dropped,
// so its rules are unknown. While our fetches fail, now must be the time of the first failure.
func (b *Book) Others(host Host, token string, copy *policy.Version, now time.Time, grace time.Duration) (others []*policy.Version, lost bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.get(host)
	if h == nil {
		return nil, false
	}
	if len(h.all) > 1 || len(h.lostFor) > 0 { // rare; folding a token may allocate
		token = tokenOf(token)
	}
	for _, f := range h.all {
		if f.hash == copy.Hash || f.digest == h.current && h.body == copy.Hash || !f.counts(token, now, h.ended, grace) {
			continue
		}
		if f.version != nil {
			others = append(others, f.version)
		} else if robots := f.robots.Value(); robots != nil {
			others = append(others, &policy.Version{Robots: robots, Hash: f.hash, Derived: b.derive(robots)})
		} else {
			lost = true
		}
	}
	return others, lost || h.isLost(token, now, grace)
}

// Current returns our latest copy for a host, or nil if there is none.
func (b *Book) Current(host Host) *policy.Robots {
	b.mu.Lock()
	defer b.mu.Unlock()
	if h := b.get(host); h != nil {
		if f := h.find(h.current); f != nil {
			return f.robots.Value()
		}
	}
	return nil
}

// Recover extends the grace of a host by the time in which our fetches failed.
func (b *Book) Recover(host Host, from, to time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if h := b.get(host); h != nil && to.After(from) {
		h.shift(from, to)
	}
}

// KeepInForce records that the change guard enforces an older file until the given time. If until
// is now, the older file is no longer in force.
func (b *Book) KeepInForce(of Of, v *policy.Version, until, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.open(of.Host, of.Named, now)
	if f := b.add(h, v, now); !f.inForceUntil.Equal(until) {
		f.inForceUntil = until
		h.changes++
	}
	b.bound(h, now)
}

// KeptInForce returns the older files of a host that the change guard enforces at now.
func (b *Book) KeptInForce(host Host, now time.Time) (kept []*policy.Version) {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.get(host)
	if h == nil {
		return nil
	}
	for _, f := range h.all {
		if f.version != nil && now.Before(f.inForceUntil) && f.digest != h.current {
			kept = append(kept, f.version)
		}
	}
	return kept
}

// EffectiveAt returns when our copy becomes the only file that crawlers may use, unless the site
// served them another file. The zero time means now.
func (b *Book) EffectiveAt(host Host, now time.Time) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if h := b.get(host); h != nil {
		return h.effectiveAt(now)
	}
	return time.Time{}
}

// Pending returns the hosts with a nonzero EffectiveAt.
func (b *Book) Pending(now time.Time) map[Host]time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	pending := make(map[Host]time.Time)
	for i := range b.parts {
		for _, h := range b.parts[i].hosts.Values() {
			if at := h.effectiveAt(now); !at.IsZero() {
				pending[h.host] = at
			}
		}
	}
	return pending
}

// EndGrace ends the grace of all files that were in use until now, for the hosts selected by has.
// It returns the number of these hosts.
func (b *Book) EndGrace(has func(Host) bool, now time.Time) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.parts {
		for _, h := range b.parts[i].hosts.Values() {
			if !has(h.host) {
				continue
			}
			h.ended = later(h.ended, now)
			for _, f := range h.all {
				if f.digest != h.current {
					h.ended = later(h.ended, f.copied) // perhaps from another clock
				}
			}
			h.changes++
			n++
		}
	}
	return n
}

package store

import (
	"crypto/sha256"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

const (
	// policyRewriteInterval is the time after which the value of an unchanged version is written
	// again.
	policyRewriteInterval = time.Hour

	valuesPerPolicy = 4 // This many values are read per policy, because instances may share sites.
)

// maxPolicyValues returns how many values of policies to read from all instances. sites is the
// maximum number of configured sites in the cache.
func maxPolicyValues(sites int) int { return valuesPerPolicy * (sites + 256) }

// policyValues has the values of the kind "policies": the versions of the robots.txt of a
// configured site, or of a base file. Files of hosts that only clients name are not stored.
type policyValues struct {
	store      *Store
	prefix     string // prefix begins the names of the values.
	cache      *policy.Cache
	startedAt  time.Time
	endedEarly bool // endedEarly is true if the configuration ended before the storage was read.

	mu     sync.Mutex // This mutex guards stored while values are read.
	stored map[policy.Key]storedPolicy
}

// storedPolicy describes the latest value about a site that any instance has stored.
type storedPolicy struct {
	hash      [sha256.Size]byte
	redirects string // The redirects are quoted.
	status    int
	lastRead  time.Time
}

// newStoredPolicy describes the value to which a state would be encoded.
func newStoredPolicy(state *policy.State) storedPolicy {
	redirects := ""
	if len(state.RedirectTargets) > 0 {
		redirects = fmt.Sprintf("%q", state.RedirectTargets)
	}
	return storedPolicy{state.Current.Hash, redirects, state.Current.Status, state.Current.LastFetched}
}

func newPolicyValues(s *Store, prefix string, cache *policy.Cache) *policyValues {
	return &policyValues{store: s, prefix: prefix, cache: cache, stored: make(map[policy.Key]storedPolicy)}
}

// pendingWrites returns the sites with a new version of their robots.txt. After
// policyRewriteInterval it also returns a site with a later fetch of the same version.
func (p *policyValues) pendingWrites(last bool) iter.Seq[pendingWrite] {
	rewriteAfter := policyRewriteInterval
	if last && p.store.isExiting() {
		rewriteAfter = time.Second
	}
	return func(yield func(pendingWrite) bool) {
		p.dropUncached()
		for _, entry := range p.cache.Entries() {
			state := entry.State()
			if state == nil || state.Current == nil || entry.Segment() != policy.ConfiguredHosts || !p.isDue(entry.Key(), state, rewriteAfter) {
				continue
			}
			if !yield(p.newPendingWrite(entry)) {
				return
			}
		}
	}
}

// isDue reports whether the state of a site should be written now.
func (p *policyValues) isDue(site policy.Key, state *policy.State, rewriteAfter time.Duration) bool {
	if p.endedEarly && state.Current.FirstFetched.Before(p.startedAt) {
		return false // The version is stored already, and the next configuration checks again.
	}
	stored, isStored := p.stored[site]
	current := newStoredPolicy(state)
	return !isStored || stored.hash != current.hash || stored.status != current.status || stored.redirects != current.redirects || current.lastRead.Sub(stored.lastRead) >= rewriteAfter
}

// newPendingWrite returns the write that stores the state of a cached robots.txt.
func (p *policyValues) newPendingWrite(entry *policy.Entry) pendingWrite {
	var state *policy.State
	return pendingWrite{
		name:     p.valueName(entry.Key()),
		logField: zap.Stringer("site", entry.Key()),
		encode: func() ([]byte, error) {
			state = entry.State()
			return policy.Snapshot{Key: entry.Key(), State: *state, Saved: p.store.now()}.Encode()
		},
		onStored: func() {
			p.stored[entry.Key()] = newStoredPolicy(state)
		},
	}
}

// valueName returns the name under which the robots.txt of a site is stored.
func (p *policyValues) valueName(site policy.Key) string { return p.prefix + siteValueName(site) }

func (p *policyValues) restoreValue(v value, summary *readSummary) error {
	snapshot, err := policy.DecodeSnapshot(v.data)
	switch {
	case err != nil:
		return err
	case p.valueName(snapshot.Key) != v.key.name:
		return fmt.Errorf("the value belongs to %s, which has another key", snapshot.Key)
	case p.store.isExpired(snapshot.Saved):
		return errExpired
	}
	if v.isOwn || !snapshot.Key.IsFile() { // Other instances may have a different file at the same path.
		p.restore(snapshot, summary)
	}
	return nil
}

// restore adds a stored robots.txt to the cache.
func (p *policyValues) restore(snapshot policy.Snapshot, summary *readSummary) {
	site := snapshot.Key
	p.mu.Lock()
	defer p.mu.Unlock()
	alreadyRestored := summary.restoredSites[restoredSite{p, site}]
	summary.validPolicies++
	if p.cache.Restore(site, site.Segment(), snapshot.State, alreadyRestored) {
		summary.restoredSites[restoredSite{p, site}] = true
	}
	if snapshot.State.Current.LastFetched.After(p.store.now()) {
		return // A wrong clock wrote the value. It will be replaced.
	}
	p.recordStored(site, newStoredPolicy(&snapshot.State))
}

// recordStored records that a value about a site is stored, unless a later value is recorded. The
// caller must hold p.mu.
func (p *policyValues) recordStored(site policy.Key, value storedPolicy) {
	if value.lastRead.After(p.stored[site].lastRead) {
		p.stored[site] = value
	}
}

// dropUncached drops the records about sites that are no longer in the cache.
func (p *policyValues) dropUncached() {
	if len(p.stored) > 2*p.cache.Stats(policy.ConfiguredHosts).Entries+100 {
		maps.DeleteFunc(p.stored, func(site policy.Key, _ storedPolicy) bool { return p.cache.Get(site) == nil })
	}
}

// cachedValues returns a function that reports whether the cache already contains the content of a
// value of this instance. The function records such a value as stored, so a reload reads no values.
// cachedValues returns nil if the cache is empty.
//
// A value contains the cached version if it was written after the version was first fetched. This
// is correct because an instance always writes its current version. A storage to which this process
// has not written has no such value.
func (p *policyValues) cachedValues() func(k key, modified time.Time) bool {
	byName := make(map[string]*policy.Entry)
	for _, entry := range p.cache.Entries() {
		if state := entry.State(); state != nil && state.Current != nil {
			byName[p.valueName(entry.Key())] = entry
		}
	}
	if len(byName) == 0 {
		return nil
	}
	return func(k key, modified time.Time) bool {
		entry := byName[k.name]
		if entry == nil || k.instance != p.store.instance {
			return false
		}
		state := entry.State()
		goodVersion := state.Current
		if !modified.After(goodVersion.FirstFetched) || modified.Before(goodVersion.LastFetched.Add(-policyRewriteInterval)) || p.store.isExpired(modified) {
			return false
		}
		value := newStoredPolicy(state)
		if modified.Before(value.lastRead) {
			value.lastRead = modified // The value contains no later fetch.
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.recordStored(entry.Key(), value)
		return true
	}
}

// listPolicyValues returns s.policies and s.bases, without nil.
func (s *Store) listPolicyValues() []*policyValues {
	return slices.DeleteFunc([]*policyValues{s.policies, s.bases}, func(p *policyValues) bool { return p == nil })
}

package store

import (
	"context"
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
	// rewriteInterval is the time after which the value of an unchanged version is written again.
	rewriteInterval = time.Hour

	keysPerPolicy = 4 // values to read per policy, since instances may share sites
)

// maxPoliciesFor returns the maximum number of policy values to read from all instances. sites is the
// cache's capacity for named sites.
func maxPoliciesFor(sites int) int { return keysPerPolicy * (sites + 256) }

// policies stores the versions of the robots.txt files of named sites, or of bases. Files of hosts
// that only clients name are not stored.
type policies struct {
	store  *Store
	prefix string // of value names
	cache  *policy.Cache
	began  time.Time
	short  bool // the configuration ended before the storage was read

	mu     sync.Mutex // guards stored while values are read
	stored map[policy.Key]storedPolicy
}

// storedPolicy describes the latest stored value of a site from any instance.
type storedPolicy struct {
	hash     [sha256.Size]byte
	via      string // quoted redirects
	status   int
	lastRead time.Time
}

// storedOf describes the value that would be stored for a state.
func storedOf(state *policy.State) storedPolicy {
	via := ""
	if len(state.Via) > 0 {
		via = fmt.Sprintf("%q", state.Via)
	}
	return storedPolicy{state.Good.Hash, via, state.Good.Status, state.Good.LastRead}
}

func newPolicies(s *Store, prefix string, cache *policy.Cache) *policies {
	return &policies{store: s, prefix: prefix, cache: cache, stored: make(map[policy.Key]storedPolicy)}
}

// due returns the policies with a new version. At intervals it also returns policies that were
// fetched again unchanged.
func (p *policies) due(_ context.Context, last bool) iter.Seq[pending] {
	renew := rewriteInterval
	if last && p.store.exiting() {
		renew = time.Second
	}
	return func(yield func(pending) bool) {
		p.forget()
		for _, e := range p.cache.Entries() {
			state := e.State()
			if state == nil || state.Good == nil || e.Segment() != policy.Named || !p.isDue(e.Key(), state, renew) {
				continue
			}
			if !yield(p.pending(e)) {
				return
			}
		}
	}
}

// isDue reports whether the state of a site should be written now.
func (p *policies) isDue(site policy.Key, state *policy.State, renew time.Duration) bool {
	if p.short && state.Good.FirstRead.Before(p.began) {
		return false // the version is stored already, and the next configuration checks again
	}
	stored, known := p.stored[site]
	now := storedOf(state)
	return !known || stored.hash != now.hash || stored.status != now.status || stored.via != now.via || now.lastRead.Sub(stored.lastRead) >= renew
}

// pending returns how to write the policy of an entry.
func (p *policies) pending(e *policy.Entry) pending {
	var state *policy.State
	return pending{
		name:  p.nameOf(e.Key()),
		about: zap.Stringer("site", e.Key()),
		encode: func() ([]byte, error) {
			state = e.State()
			return policy.Snapshot{Key: e.Key(), State: *state, Saved: p.store.now()}.Encode()
		},
		stored: func() {
			p.stored[e.Key()] = storedOf(state)
		},
	}
}

// nameOf returns the name of the value of a site.
func (p *policies) nameOf(site policy.Key) string { return p.prefix + siteName(site) }

func (p *policies) take(v value, found *summary) error {
	snapshot, err := policy.DecodeSnapshot(v.data)
	switch {
	case err != nil:
		return err
	case p.nameOf(snapshot.Key) != v.key.name:
		return fmt.Errorf("the value is about %s, which has another key", snapshot.Key)
	case p.store.isExpired(snapshot.Saved):
		return errExpired
	}
	if v.own || !snapshot.Key.IsFile() { // other instances may have a different file at the same path
		p.restore(snapshot, found)
	}
	return nil
}

// restore restores a policy into the cache.
func (p *policies) restore(snapshot policy.Snapshot, found *summary) {
	site := snapshot.Key
	p.mu.Lock()
	defer p.mu.Unlock()
	newest := found.restored[restored{p, site}]
	found.read++
	if p.cache.Restore(site, site.Segment(), snapshot.State, newest) {
		found.restored[restored{p, site}] = true
	}
	if snapshot.State.Good.LastRead.After(p.store.now()) {
		return // a wrong clock wrote the value, which will be replaced
	}
	p.noteStored(site, storedOf(&snapshot.State))
}

// noteStored records a stored value of a site unless a later value is recorded. The caller must hold
// p.mu.
func (p *policies) noteStored(site policy.Key, value storedPolicy) {
	if value.lastRead.After(p.stored[site].lastRead) {
		p.stored[site] = value
	}
}

// forget drops the records of sites that are not in the cache any more.
func (p *policies) forget() {
	if len(p.stored) > 2*p.cache.Stats(policy.Named).Entries+100 {
		maps.DeleteFunc(p.stored, func(site policy.Key, _ storedPolicy) bool { return p.cache.Get(site) == nil })
	}
}

// held returns a function that reports whether the cache already contains a value of this instance.
// The function records such a value as stored, so a reload reads no values. held returns nil if the
// cache is empty.
//
// A value contains the cached version if it was written after the version was first fetched. An
// instance always writes its current version. If this process has not written to a storage, the
// storage has no such value.
func (p *policies) held() func(k key, modified time.Time) bool {
	byName := make(map[string]*policy.Entry)
	for _, e := range p.cache.Entries() {
		if state := e.State(); state != nil && state.Good != nil {
			byName[p.nameOf(e.Key())] = e
		}
	}
	if len(byName) == 0 {
		return nil
	}
	return func(k key, modified time.Time) bool {
		e := byName[k.name]
		if e == nil || k.instance != p.store.instance {
			return false
		}
		state := e.State()
		good := state.Good
		if !modified.After(good.FirstRead) || modified.Before(good.LastRead.Add(-rewriteInterval)) || p.store.isOld(modified) {
			return false
		}
		value := storedOf(state)
		if modified.Before(value.lastRead) {
			value.lastRead = modified // the value contains no later fetch
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.noteStored(e.Key(), value)
		return true
	}
}

// versions returns the policy tables of a store.
func (s *Store) versions() []*policies {
	return slices.DeleteFunc([]*policies{s.policies, s.bases}, func(p *policies) bool { return p == nil })
}

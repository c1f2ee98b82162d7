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

	keysPerPolicy = 4 // values read per policy, since a few instances may have the same sites
)

// maxPoliciesFor returns how many values of policies are read, of all instances together. The
// cache has room for a number of named sites.
func maxPoliciesFor(sites int) int { return keysPerPolicy * (sites + 256) }

// policies are the versions of the robots.txt files of named sites, or of the bases of composed
// files. The files of hosts that only clients name are not stored.
type policies struct {
	store  *Store
	prefix string // of the names of values
	cache  *policy.Cache
	began  time.Time
	short  bool // the configuration ended before the storage was read

	mu     sync.Mutex // guards stored while values are taken in
	stored map[policy.Key]storedPolicy
}

// storedPolicy describes the latest stored value of a site, by any instance.
type storedPolicy struct {
	hash     [sha256.Size]byte
	via      string // the redirects, quoted
	status   int
	lastRead time.Time
}

// storedOf describes the value of a state.
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

// due returns the policies with a new version, and at intervals those that were fetched again
// unchanged.
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
		return false // the configuration before has stored the version, and the next one will look
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
		return // written by a clock that was wrong; the value will be replaced
	}
	p.noteStored(site, storedOf(&snapshot.State))
}

// noteStored records a stored value of a site, unless a later one is recorded. The caller holds
// p.mu.
func (p *policies) noteStored(site policy.Key, value storedPolicy) {
	if value.lastRead.After(p.stored[site].lastRead) {
		p.stored[site] = value
	}
}

// forget drops the records of sites that have left the cache.
func (p *policies) forget() {
	if len(p.stored) > 2*p.cache.Stats(policy.Named).Entries+100 {
		maps.DeleteFunc(p.stored, func(site policy.Key, _ storedPolicy) bool { return p.cache.Get(site) == nil })
	}
}

// held returns a function that reports whether the cache has the content of a value of this
// instance, so that the value need not be read; the function then records the value as stored.
// After a reload no value has to be read. held returns nil if the cache is empty.
//
// A value that was written after the cached version was first read contains that version,
// because an instance writes what it has. A storage to which this process has not written has no
// value as new as that.
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

// versions returns the tables of policies that a store keeps.
func (s *Store) versions() []*policies {
	return slices.DeleteFunc([]*policies{s.policies, s.bases}, func(p *policies) bool { return p == nil })
}

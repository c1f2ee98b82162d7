package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

const (
	rewriteInterval = time.Hour // between notes that a version is still current

	keysPerPolicy = 4 // that are read, for a few instances with the same sites
)

// maxPoliciesFor returns how many values are read where policies of so many named
// sites are kept. No key tells which policies are of others.
func maxPoliciesFor(sites int) int { return keysPerPolicy * (sites + maxStoredUnnamed) }

// policies are the versions of robots.txt: of the sites that the configuration
// names, and of the most used of other hosts. There are two kinds: those that are
// served, and the bases that some of these are composed from.
type policies struct {
	store *Store
	kind  string
	cache *policy.Cache
	began time.Time
	short bool // the configuration ended before it was known what is stored

	mu      sync.Mutex // guards what follows while values are taken in
	stored  map[siteSum]storedPolicy
	settled map[*policy.Entry]*policy.State // what was known of a named site when nothing of it was due
	unnamed map[policy.Key]bool             // hosts that no site names of which this instance stores policies
	chosen  time.Time                       // when these were chosen
}

// storedPolicy is what is known to be stored of a site, by any instance. Like its [siteSum] it
// has no pointer: there may be very many, and the garbage collector need not look at them.
type storedPolicy struct {
	hash     [sha256.Size]byte
	via      [sha256.Size]byte // see sumOfVia
	status   int
	lastRead int64 // in Unix nanoseconds, 0 if nothing is known
}

// storedOf returns what is known of a site when this state of it is stored.
func storedOf(state *policy.State) storedPolicy {
	good := state.Good
	return storedPolicy{good.Hash, sumOfVia(state.Via), good.Status, good.LastRead.UnixNano()}
}

// sumOfVia stands for where a file was redirected to.
func sumOfVia(via []string) (sum [sha256.Size]byte) {
	if len(via) > 0 {
		sum = sha256.Sum256(fmt.Appendf(nil, "%q", via))
	}
	return sum
}

func newPolicies(s *Store, kind string, cache *policy.Cache) *policies {
	return &policies{store: s, kind: kind, cache: cache, stored: make(map[siteSum]storedPolicy), settled: make(map[*policy.Entry]*policy.State), unnamed: make(map[policy.Key]bool)}
}

func (p *policies) name() string { return p.kind }
func (*policies) max() int64     { return policy.MaxSnapshot }
func (*policies) most() int      { return math.MaxInt } // of all instances together, see maxPoliciesFor

// due returns what is known and not stored yet: versions that are new, and once in
// a while those that were seen again.
func (p *policies) due(ctx context.Context, last bool) iter.Seq[pending] {
	renew := rewriteInterval
	if last && p.store.exiting() {
		renew = time.Second
	}
	return func(yield func(pending) bool) {
		p.forget()
		for _, e := range p.storable(ctx) {
			site, state := e.Key(), e.State()
			if !last && p.settled[e] == state {
				continue // as most are, every two seconds
			}
			known := p.stored[sumOf(site)]
			if !p.isDue(known, state, renew) {
				if e.Segment() == policy.Named {
					p.settled[e] = state
				}
				continue
			}
			if !last && p.store.backoff.waits(p.keyOf(p.store.instance, site), p.store.now()) {
				continue
			}
			if known.forgotten(state) {
				p.store.readSite(ctx, p, site)
			}
			if !yield(p.pending(e)) {
				return
			}
		}
	}
}

// isDue reports whether a policy should be stored now of which that is known to be stored.
func (p *policies) isDue(known storedPolicy, state *policy.State, renew time.Duration) bool {
	good := state.Good
	switch {
	case p.short && good.FirstRead.Before(p.began):
		return false // the configuration before has stored it, the next one will look
	case known.hash != good.Hash, known.status != good.Status, known.via != sumOfVia(state.Via), known.forgotten(state):
		return true
	}
	return good.LastRead.Sub(time.Unix(0, known.lastRead)) >= renew
}

// forgotten reports whether the cache has dropped a site since it was stored, with
// the versions that it knew.
func (known storedPolicy) forgotten(now *policy.State) bool {
	if known.lastRead == 0 || now.Good.FirstRead.UnixNano() <= known.lastRead {
		return false
	}
	return !slices.ContainsFunc(now.Past, func(v *policy.Version) bool { return v.Hash == known.hash })
}

// pending returns how the policy of an entry is written.
func (p *policies) pending(e *policy.Entry) pending {
	var state *policy.State
	return pending{
		name:  siteName(e.Key()),
		about: zap.Stringer("site", e.Key()),
		encode: func() ([]byte, error) {
			state = e.State()
			return policy.Snapshot{Key: e.Key(), State: *state, Saved: p.store.now()}.Encode()
		},
		stored: func() {
			p.stored[sumOf(e.Key())] = storedOf(state)
		},
	}
}

// keyOf returns where the policy of a site is stored by an instance.
func (p *policies) keyOf(instance string, site policy.Key) key {
	return key{instance, p.kind, siteName(site)}
}

func (p *policies) take(v value, found *summary) error {
	snapshot, err := policy.DecodeSnapshot(v.data)
	switch {
	case err != nil:
		return err
	case siteName(snapshot.Key) != v.key.name:
		return fmt.Errorf("it is about %s, which has another key", snapshot.Key)
	case p.store.isExpired(snapshot.Saved):
		return errExpired
	}
	if !v.own {
		correctState(&snapshot.State, p.store.peers.clockOf(v.key.instance))
	}
	if v.own || !snapshot.Key.IsFile() { // a file of the same name is another one for each instance
		p.restore(snapshot, v.own, found)
	}
	return nil
}

// restore takes a policy into the cache.
func (p *policies) restore(snapshot policy.Snapshot, own bool, found *summary) {
	site, segment := snapshot.Key, snapshot.Key.Segment()
	p.mu.Lock()
	defer p.mu.Unlock()
	newest := found.restored[restored{p.kind, site}]
	found.read++
	if p.cache.Restore(site, segment, snapshot.State, newest) {
		found.restored[restored{p.kind, site}] = true
	}
	if own && segment == policy.Invented {
		p.unnamed[site] = true
	}
	good := snapshot.State.Good
	if good.LastRead.After(p.store.now()) {
		return // by a clock that was wrong; it will be replaced
	}
	p.noteStored(site, storedOf(&snapshot.State))
}

// noteStored takes note of what some instance has stored of a site, unless a later one is
// known. p.mu must be held.
func (p *policies) noteStored(site policy.Key, what storedPolicy) {
	if sum := sumOf(site); what.lastRead > p.stored[sum].lastRead {
		p.stored[sum] = what
	}
}

// forget drops what is known to be stored, and what was due, of sites that have left the cache.
func (p *policies) forget() {
	most := 2*p.cache.Stats(policy.Named).Entries + 100
	if len(p.stored) > most+2*keysPerPolicy*maxStoredUnnamed { // of which the cache may have many that no site names
		kept := make(map[siteSum]bool)
		for _, e := range p.cache.Entries() {
			kept[sumOf(e.Key())] = true
		}
		maps.DeleteFunc(p.stored, func(site siteSum, _ storedPolicy) bool { return !kept[site] })
	}
	if len(p.settled) > most {
		maps.DeleteFunc(p.settled, func(e *policy.Entry, _ *policy.State) bool { return p.cache.Get(e.Key()) != e })
	}
}

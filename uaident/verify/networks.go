package verify

import (
	"hash/maphash"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/limit"
)

// networkStates counts recent lookups by network and marks networks with slow reverse DNS zones.
// The size is fixed. A random seed maps each network to one bucket of statesPerBucket states.
type networkStates struct {
	seed    maphash.Seed
	buckets [1024][statesPerBucket]networkState
}

const statesPerBucket = 4

// networkState is the state of one network. Only one goroutine at a time may change the state. A
// nil state is valid and belongs to a network without recent lookups.
type networkState struct {
	id         atomic.Uint64 // id is the hash of the network, or 0.
	lookupRate limit.Rate    // lookupRate is the rate of lookups from the network.
	slowUntil  atomic.Int64  // slowUntil is a monotime.
}

// slowDuration is the time for which a network is slow after a slow lookup.
const slowDuration = monotime(10 * time.Minute)

func newNetworkStates() *networkStates { return &networkStates{seed: maphash.MakeSeed()} }

// find returns the state of a network, or nil.
func (n *networkStates) find(network netip.Prefix) *networkState {
	id := maphash.Comparable(n.seed, network) | 1
	bucket := &n.buckets[id>>1%uint64(len(n.buckets))]
	for i := range bucket {
		if p := &bucket[i]; p.id.Load() == id {
			return p
		}
	}
	return nil
}

// findOrAdd returns the state of a network. A new state replaces the state in the bucket that
// becomes irrelevant first.
func (n *networkStates) findOrAdd(network netip.Prefix) *networkState {
	if p := n.find(network); p != nil {
		return p
	}
	id := maphash.Comparable(n.seed, network) | 1
	bucket := &n.buckets[id>>1%uint64(len(n.buckets))]
	oldest := &bucket[0]
	for i := range bucket {
		p := &bucket[i]
		if p.id.Load() == 0 {
			oldest = p
			break
		}
		if p.relevantUntil() < oldest.relevantUntil() {
			oldest = p
		}
	}
	oldest.lookupRate.Reset()
	oldest.slowUntil.Store(-int64(maxMonotime / 2)) // The time is long ago.
	oldest.id.Store(id)
	return oldest
}

// relevantUntil returns the time from which the state no longer limits lookups.
func (p *networkState) relevantUntil() monotime {
	return max(monotime(p.lookupRate.DueTime()), monotime(p.slowUntil.Load()))
}

// mayStartLookup reports whether the rate of the network allows a lookup now. ahead is the maximum
// time by which a lookup may be too early, and so allows a burst.
func (p *networkState) mayStartLookup(now, ahead monotime) bool {
	return p == nil || p.lookupRate.TimeUntilDue(time.Duration(now)) < time.Duration(ahead)
}

// countLookup counts a lookup. each is the minimum average interval between lookups of the network.
func (p *networkState) countLookup(now, each monotime) {
	p.lookupRate.Charge(time.Duration(now), time.Duration(each))
}

// isSlow reports whether a recent lookup of the network was slow.
func (p *networkState) isSlow(now monotime) bool {
	return p != nil && now < monotime(p.slowUntil.Load())
}

// recordDuration records whether the last lookup of the network was slow.
func (p *networkState) recordDuration(slow bool, now monotime) {
	if slow {
		p.slowUntil.Store(int64(now + slowDuration))
	} else if p.isSlow(now) {
		p.slowUntil.Store(int64(now))
	}
}

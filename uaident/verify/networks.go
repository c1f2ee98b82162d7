package verify

import (
	"hash/maphash"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/limit"
)

// networks counts recent lookups by network and marks networks with slow reverse zones. It
// has a fixed size. A random seed maps each network to one bucket.
type networks struct {
	seed    maphash.Seed
	buckets [1024][networkWays]networkPlace
}

const networkWays = 4 // slots a bucket

// networkPlace is the state of one network. Only one goroutine at a time changes it. nil is a
// network without state.
type networkPlace struct {
	id        atomic.Uint64 // hash of the network, or 0
	rate      limit.Rate    // rate of its lookups
	slowUntil atomic.Int64  // moment
}

// slowFor is the time for which a network is slow after a slow lookup.
const slowFor = moment(10 * time.Minute)

func newNetworks() *networks { return &networks{seed: maphash.MakeSeed()} }

// find returns the state of a network, or nil.
func (n *networks) find(network netip.Prefix) *networkPlace {
	id := maphash.Comparable(n.seed, network) | 1
	bucket := &n.buckets[id>>1%uint64(len(n.buckets))]
	for i := range bucket {
		if p := &bucket[i]; p.id.Load() == id {
			return p
		}
	}
	return nil
}

// place returns the state of a network. It replaces the oldest state in the bucket if
// necessary.
func (n *networks) place(network netip.Prefix) *networkPlace {
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
		if p.heard() < oldest.heard() {
			oldest = p
		}
	}
	oldest.rate.Reset()
	oldest.slowUntil.Store(-int64(forever / 2)) // long ago
	oldest.id.Store(id)
	return oldest
}

// heard returns the time at which the state becomes irrelevant.
func (p *networkPlace) heard() moment {
	return max(moment(p.rate.Due()), moment(p.slowUntil.Load()))
}

// inTime reports whether the network may start a lookup now. nextLookup - now must be less
// than ahead.
func (p *networkPlace) inTime(now, ahead moment) bool {
	return p == nil || p.rate.Ahead(time.Duration(now)) < time.Duration(ahead)
}

// take counts a lookup.
func (p *networkPlace) take(now, each moment) { p.rate.Count(time.Duration(now), time.Duration(each)) }

func (p *networkPlace) isSlow(now moment) bool {
	return p != nil && now < moment(p.slowUntil.Load())
}

// took records whether the last lookup was slow.
func (p *networkPlace) took(slow bool, now moment) {
	if slow {
		p.slowUntil.Store(int64(now + slowFor))
	} else if p.isSlow(now) {
		p.slowUntil.Store(int64(now))
	}
}

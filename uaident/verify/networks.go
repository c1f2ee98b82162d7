package verify

import (
	"hash/maphash"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/limit"
)

// networks remembers of networks how many look-ups they have caused lately, and
// which have a slow reverse zone. It has a fixed number of places, of which a
// network may take one of a few, which a secret decides.
type networks struct {
	seed    maphash.Seed
	buckets [1024][networkWays]networkPlace
}

const networkWays = 4 // places that a network may take

// networkPlace is what is known of a network. It is changed by one goroutine at a
// time; nil is one of which nothing is known.
type networkPlace struct {
	id        atomic.Uint64 // hash of the network, 0 for none
	rate      limit.Rate    // of the look-ups that it has caused
	slowUntil atomic.Int64  // moment
}

// slowFor is how long a network counts as slow after a slow look-up.
const slowFor = moment(10 * time.Minute)

func newNetworks() *networks { return &networks{seed: maphash.MakeSeed()} }

// find returns the network's place, nil if it has none.
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

// place returns the network's place. If it has none, it gets that of the one of
// which nothing has been heard for longest.
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

// heard returns until when something is known of the network.
func (p *networkPlace) heard() moment {
	return max(moment(p.rate.Due()), moment(p.slowUntil.Load()))
}

// inTime reports whether the network may cause a look-up now: whether the next one
// runs ahead of the clock by less than ahead.
func (p *networkPlace) inTime(now, ahead moment) bool {
	return p == nil || p.rate.Ahead(time.Duration(now)) < time.Duration(ahead)
}

// take counts a look-up.
func (p *networkPlace) take(now, each moment) { p.rate.Count(time.Duration(now), time.Duration(each)) }

func (p *networkPlace) isSlow(now moment) bool {
	return p != nil && now < moment(p.slowUntil.Load())
}

// took notes how the last look-up went.
func (p *networkPlace) took(slow bool, now moment) {
	if slow {
		p.slowUntil.Store(int64(now + slowFor))
	} else if p.isSlow(now) {
		p.slowUntil.Store(int64(now))
	}
}

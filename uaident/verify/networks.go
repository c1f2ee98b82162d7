package verify

import (
	"hash/maphash"
	"net/netip"
	"sync/atomic"
	"time"
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
	tat       atomic.Int64  // moment, see inTime
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
		if max(p.tat.Load(), p.slowUntil.Load()) < max(oldest.tat.Load(), oldest.slowUntil.Load()) {
			oldest = p
		}
	}
	oldest.tat.Store(-int64(forever / 2)) // long ago
	oldest.slowUntil.Store(-int64(forever / 2))
	oldest.id.Store(id)
	return oldest
}

// inTime reports whether the network may cause a look-up now, by the generic cell
// rate algorithm: the theoretical arrival time of the next one runs ahead of the
// clock by no more than ahead.
func (p *networkPlace) inTime(now, ahead moment) bool {
	return p == nil || moment(p.tat.Load())-now < ahead
}

// take counts a look-up.
func (p *networkPlace) take(now, each moment) {
	p.tat.Store(int64(max(moment(p.tat.Load()), now) + each))
}

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

// networkOf returns the network that stands for an address.
func networkOf(addr netip.Addr) netip.Prefix {
	bits := 24
	if addr.Is6() {
		bits = 48
	}
	network, _ := addr.Prefix(bits) // addr is valid and has no zone
	return network
}

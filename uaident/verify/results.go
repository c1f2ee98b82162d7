package verify

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// How long results of reverse DNS are kept.
const (
	keepVerified   = moment(24 * time.Hour)
	keepFailed     = moment(time.Hour)
	retryUnknown   = moment(time.Minute) // doubled with each further one
	retryUnknownBy = moment(5 * time.Minute)

	// A zone is mute that did not answer well so many times in a row, which takes
	// twelve minutes at least. It is forgiven if nobody asks for an hour.
	timesMute = 5
	keepMute  = moment(time.Hour)
)

// moment is a time, since the Verifier was made: cheaper to get than a
// [time.Time], and to compare.
type moment int64

const forever = moment(1<<63 - 1)

// subject is what a result is about.
type subject struct {
	addr  [16]byte
	scope uint64 // the domains, see scopeOf
}

func subjectOf(addr netip.Addr, scope uint64) subject { return subject{addr.As16(), scope} }

// result is what a look-up found. It is immutable.
type result struct {
	subject
	state    State  // Verified, Spoofed or Unknown
	failures uint8  // for Unknown: how many in a row
	zones    uint8  // for Unknown: how many of these the zone of the address is to blame for
	answered bool   // there was a name that verified the address
	due      moment // when to look up again
	end      moment // when it counts no more
}

// at returns what the result, which may be nil, says at now, and whether the zone
// of the address is mute.
func (r *result) at(now moment) (state State, mute bool) {
	if r == nil || now >= r.end {
		return Unknown, false
	}
	return r.state, r.zones >= timesMute
}

// results keeps results. Reading takes no lock. It has a fixed number of places,
// and a subject may take one of a few, which a secret decides: whoever has many
// addresses can displace the results of others, but not those that are verified,
// which have places of their own.
type results struct {
	seed     maphash.Seed
	verified places
	others   places
	changing sync.Mutex // held while changing a place
}

const ways = 8 // places that a subject may take

type places struct {
	buckets [][ways]atomic.Pointer[result]
}

func newResults(verified, others int) *results {
	r := &results{seed: maphash.MakeSeed()}
	r.verified.buckets = make([][ways]atomic.Pointer[result], bucketsFor(verified))
	r.others.buckets = make([][ways]atomic.Pointer[result], bucketsFor(others))
	return r
}

// bucketsFor returns a power of two.
func bucketsFor(results int) int {
	n := 1
	for n*ways < results {
		n *= 2
	}
	return n
}

func (p *places) bucket(hash uint64) *[ways]atomic.Pointer[result] {
	return &p.buckets[hash&uint64(len(p.buckets)-1)]
}

func (p *places) find(hash uint64, s subject) *result {
	bucket := p.bucket(hash)
	for i := range bucket {
		if r := bucket[i].Load(); r != nil && r.subject == s {
			return r
		}
	}
	return nil
}

func (r *results) hash(s subject) uint64 { return maphash.Comparable(r.seed, s) }

// get returns the result about s, even if it counts no more, or nil.
func (r *results) get(s subject) *result {
	hash := r.hash(s)
	if found := r.verified.find(hash, s); found != nil {
		return found
	}
	return r.others.find(hash, s)
}

// put keeps a result in the place of an older one about the same subject.
func (r *results) put(next *result, now moment) {
	hash := r.hash(next.subject)
	to, from := &r.others, &r.verified
	if next.state == Verified {
		to, from = from, to
	}
	r.changing.Lock() // as seldom as there are look-ups
	defer r.changing.Unlock()
	to.put(hash, next, now)
	from.remove(hash, next.subject)
}

func (p *places) put(hash uint64, next *result, now moment) {
	bucket := p.bucket(hash)
	place := -1
	end := forever
	for i := range bucket {
		r := bucket[i].Load()
		if r == nil {
			if end >= 0 {
				place, end = i, -1
			}
			continue
		}
		if r.subject == next.subject {
			bucket[i].Store(next)
			return
		}
		if until := max(r.end-now, 0); until < end { // 0 for all that count no more
			place, end = i, until
		}
	}
	bucket[place].Store(next)
}

func (p *places) remove(hash uint64, s subject) {
	bucket := p.bucket(hash)
	for i := range bucket {
		if r := bucket[i].Load(); r != nil && r.subject == s {
			bucket[i].Store(nil)
		}
	}
}

// resultOf returns the result of a look-up at now, given the one before it, which
// may be nil. A conclusive result is looked up again before it ends, so that it
// need not be forgotten in between; if that fails, it counts to its end. zones
// says of one that is Unknown that the zone of the address is to blame, which is
// not held against an address that was ever verified.
func resultOf(s subject, state State, zones bool, before *result, now moment) *result {
	switch state {
	case Verified:
		return &result{subject: s, state: state, answered: true, due: now + keepVerified/8*7, end: now + keepVerified}
	case Spoofed:
		return &result{subject: s, state: state, due: now + keepFailed/8*7, end: now + keepFailed}
	}
	next := &result{subject: s, state: Unknown, failures: 1}
	if before != nil {
		next.answered = before.answered
		next.failures = min(before.failures, 8) + 1
		if before.zones > 0 && now < before.end+keepMute {
			next.zones = before.zones
		}
	}
	if zones && !next.answered {
		next.zones = min(next.zones, timesMute) + 1
	}
	next.due = now + min(retryUnknown<<(next.failures-1), retryUnknownBy)
	next.end = next.due + retryUnknownBy // remembers the failures for a while
	if next.zones >= timesMute {
		next.end = next.due + keepMute
	}
	if before != nil && before.state != Unknown && now < before.end {
		next.state, next.end = before.state, before.end
	}
	return next
}

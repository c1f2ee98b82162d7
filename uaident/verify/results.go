package verify

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// Times for which DNS results are cached.
const (
	keepVerified   = moment(24 * time.Hour)
	keepFailed     = moment(time.Hour)
	retryUnknown   = moment(time.Minute) // doubled with each further failure
	retryUnknownBy = moment(5 * time.Minute)
)

// moment is a time relative to the creation of the Verifier. It is faster to get and compare
// than a [time.Time].
type moment int64

const forever = moment(1<<63 - 1)

// subject is the key of a result.
type subject struct {
	addr  [16]byte
	scope uint64 // the domains, see scopeOf
}

func subjectOf(addr netip.Addr, scope uint64) subject { return subject{addr.As16(), scope} }

// result is the result of a lookup. It is immutable.
type result struct {
	subject
	state    State  // Verified, Spoofed or Unknown
	failures uint8  // consecutive failures, for Unknown
	due      moment // next lookup
	end      moment // expiry
}

// at returns the state at now. r can be nil.
func (r *result) at(now moment) State {
	if r == nil || now >= r.end {
		return Unknown
	}
	return r.state
}

// results is a cache with lock-free reads and a fixed size. A random seed maps each subject
// to one bucket, so that a client cannot choose the entries that it evicts. Verified results
// have a table of their own, so that other results cannot evict them.
type results struct {
	seed     maphash.Seed
	verified places
	others   places
	changing sync.Mutex // held while a slot changes
}

const ways = 8 // slots a bucket

type places struct {
	buckets [][ways]atomic.Pointer[result]
}

func newResults(verified, others int) *results {
	r := &results{seed: maphash.MakeSeed()}
	r.verified.buckets = make([][ways]atomic.Pointer[result], bucketsFor(verified))
	r.others.buckets = make([][ways]atomic.Pointer[result], bucketsFor(others))
	return r
}

// bucketsFor returns the number of buckets, a power of two.
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

// get returns the result of s, even if expired, or nil.
func (r *results) get(s subject) *result {
	hash := r.hash(s)
	if found := r.verified.find(hash, s); found != nil {
		return found
	}
	return r.others.find(hash, s)
}

// put stores a result and replaces the previous result of its subject.
func (r *results) put(next *result, now moment) {
	hash := r.hash(next.subject)
	to, from := &r.others, &r.verified
	if next.state == Verified {
		to, from = from, to
	}
	r.changing.Lock() // rarely contended: once a lookup
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
		if until := max(r.end-now, 0); until < end { // 0 for expired results
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

// resultOf returns the result of a lookup at now. before is the previous result or nil. A
// conclusive result is due before it expires, so that it stays valid during the next lookup.
// If that lookup fails, the old result stays until its expiry.
func resultOf(s subject, state State, before *result, now moment) *result {
	switch state {
	case Verified:
		return &result{subject: s, state: state, due: now + keepVerified/8*7, end: now + keepVerified}
	case Spoofed:
		return &result{subject: s, state: state, due: now + keepFailed/8*7, end: now + keepFailed}
	}
	next := &result{subject: s, state: Unknown, failures: 1}
	if before != nil {
		next.failures = min(before.failures, 8) + 1
	}
	next.due = now + min(retryUnknown<<(next.failures-1), retryUnknownBy)
	next.end = next.due + retryUnknownBy // remembers the number of failures

	if before != nil && before.state != Unknown && now < before.end {
		next.state, next.end = before.state, before.end
	}
	return next
}

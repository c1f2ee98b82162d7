package verify

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// These are the times for which DNS results are cached.
const (
	verifiedLifetime = monotime(24 * time.Hour)
	failedLifetime   = monotime(time.Hour)
	minUnknownRetry  = monotime(time.Minute) // This time doubles with each further failure.
	maxUnknownRetry  = monotime(5 * time.Minute)
)

// monotime is a time in nanoseconds since a fixed time, such as the creation of the Verifier. A
// monotime is faster to get and compare than a [time.Time].
type monotime int64

const maxMonotime = monotime(1<<63 - 1)

// resultKey identifies a reverse DNS lookup by the address of the client, and by a hash of the DNS
// server and the operator's domains.
type resultKey struct {
	addr  [16]byte
	scope uint64 // scope is the result of hashDomains.
}

func newResultKey(addr netip.Addr, scope uint64) resultKey { return resultKey{addr.As16(), scope} }

// result is the immutable result of a reverse DNS lookup.
type result struct {
	resultKey
	state     State    // state is Verified, Spoofed or Unknown.
	failures  uint8    // failures counts consecutive inconclusive lookups, up to 9.
	recheckAt monotime // recheckAt is the time of the next lookup.
	expiresAt monotime // expiresAt is the time at which the result expires.
}

// stateAt returns the state, or Unknown if the result has expired at now. r can be nil.
func (r *result) stateAt(now monotime) State {
	if r == nil || now >= r.expiresAt {
		return Unknown
	}
	return r.state
}

// resultCache is a cache of DNS results with lock-free reads and a fixed size. A random seed maps
// each key to one bucket, so that a client cannot choose the results that it evicts. Verified
// results have a table of their own, so that other results cannot evict them.
type resultCache struct {
	seed            maphash.Seed
	verifiedResults resultTable
	otherResults    resultTable
	mu              sync.Mutex // This mutex is locked while a slot changes.
}

const resultsPerBucket = 8

type resultTable struct {
	buckets [][resultsPerBucket]atomic.Pointer[result]
}

func newResultCache(verified, others int) *resultCache {
	r := &resultCache{seed: maphash.MakeSeed()}
	r.verifiedResults.buckets = make([][resultsPerBucket]atomic.Pointer[result], numBuckets(verified))
	r.otherResults.buckets = make([][resultsPerBucket]atomic.Pointer[result], numBuckets(others))
	return r
}

// numBuckets returns the number of buckets for at least the given number of results. The number is
// a power of two.
func numBuckets(results int) int {
	n := 1
	for n*resultsPerBucket < results {
		n *= 2
	}
	return n
}

func (p *resultTable) bucketFor(hash uint64) *[resultsPerBucket]atomic.Pointer[result] {
	return &p.buckets[hash&uint64(len(p.buckets)-1)]
}

func (p *resultTable) findResult(hash uint64, s resultKey) *result {
	bucket := p.bucketFor(hash)
	for i := range bucket {
		if r := bucket[i].Load(); r != nil && r.resultKey == s {
			return r
		}
	}
	return nil
}

func (r *resultCache) hash(s resultKey) uint64 { return maphash.Comparable(r.seed, s) }

// findResult returns the result for s, even if expired, or nil.
func (r *resultCache) findResult(s resultKey) *result {
	hash := r.hash(s)
	if found := r.verifiedResults.findResult(hash, s); found != nil {
		return found
	}
	return r.otherResults.findResult(hash, s)
}

// putResult stores a result in place of the previous result with the same key.
func (r *resultCache) putResult(next *result, now monotime) {
	hash := r.hash(next.resultKey)
	to, from := &r.otherResults, &r.verifiedResults
	if next.state == Verified {
		to, from = from, to
	}
	r.mu.Lock() // The lock is rarely contended, because it is taken once for each lookup.
	defer r.mu.Unlock()
	to.putResult(hash, next, now)
	from.removeResult(hash, next.resultKey)
}

func (p *resultTable) putResult(hash uint64, next *result, now monotime) {
	bucket := p.bucketFor(hash)
	place := -1
	end := maxMonotime
	for i := range bucket {
		r := bucket[i].Load()
		if r == nil {
			if end >= 0 {
				place, end = i, -1
			}
			continue
		}
		if r.resultKey == next.resultKey {
			bucket[i].Store(next)
			return
		}
		if until := max(r.expiresAt-now, 0); until < end { // This is 0 for expired results.
			place, end = i, until
		}
	}
	bucket[place].Store(next)
}

func (p *resultTable) removeResult(hash uint64, s resultKey) {
	bucket := p.bucketFor(hash)
	for i := range bucket {
		if r := bucket[i].Load(); r != nil && r.resultKey == s {
			bucket[i].Store(nil)
		}
	}
}

// newResult returns the result of a lookup that completed at now. previous can be nil. A conclusive
// result is looked up again before it expires, and remains valid until then. An inconclusive lookup
// does not replace a previous result that is still valid.
func newResult(s resultKey, state State, previous *result, now monotime) *result {
	switch state {
	case Verified:
		return &result{resultKey: s, state: state, recheckAt: now + verifiedLifetime/8*7, expiresAt: now + verifiedLifetime}
	case Spoofed:
		return &result{resultKey: s, state: state, recheckAt: now + failedLifetime/8*7, expiresAt: now + failedLifetime}
	}
	next := &result{resultKey: s, state: Unknown, failures: 1}
	if previous != nil {
		next.failures = min(previous.failures, 8) + 1
	}
	next.recheckAt = now + min(minUnknownRetry<<(next.failures-1), maxUnknownRetry)
	// The result stays longer, so that the number of failures is not forgotten.
	next.expiresAt = next.recheckAt + maxUnknownRetry

	if previous != nil && previous.state != Unknown && now < previous.expiresAt {
		next.state, next.expiresAt = previous.state, previous.expiresAt
	}
	return next
}

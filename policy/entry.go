package policy

import (
	"encoding/binary"
	"hash/fnv"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Entry is the state of one site in a Cache, with the fetches of its robots.txt. An Entry is safe
// for concurrent use.
type Entry struct {
	key         Key
	cache       *Cache
	state       atomic.Pointer[State]
	lastUsed    atomic.Int64 // lastUsed is the time of the last Touch in Unix seconds.
	usedSeconds atomic.Int32 // usedSeconds is the number of seconds with a Touch, counted up to protectedUsedSeconds.
	segment     Segment

	// possiblyChanged and recheckAt (Unix nanoseconds, or 0) are explained at MarkPossiblyChanged.
	possiblyChanged atomic.Bool
	recheckAt       atomic.Int64

	// Cache.mu guards the following fields.
	protected                bool   // the entry is in evictionQueues.protected, not in probation
	prevInQueue, nextInQueue *Entry // These are the neighbours in the queue.
	lastUsedWhenQueued       int64  // lastUsedWhenQueued is the value of lastUsed when the entry joined its queue.

	mu        sync.Mutex    // This mutex guards the fields below.
	fetchDone chan struct{} // fetchDone is closed when the current fetch ends. It is nil without a fetch.
	// lastCallbackDone is closed when onFetched of the last fetch has returned. It is nil after that.
	lastCallbackDone chan struct{}
	dueAfterFetch    bool // dueAfterFetch is true if MakeDue was called during the current fetch.
	// markedWhileFetching is true if MarkPossiblyChanged was called during the current fetch.
	markedWhileFetching bool
}

// isIrreplaceable reports whether the entry has a file that a fetch could not restore now, because
// the last fetch failed.
func (e *Entry) isIrreplaceable() bool {
	s := e.state.Load()
	return s != nil && s.Current != nil && s.FailureCount > 0
}

// Touch records a use of the entry at now, which postpones its eviction.
func (e *Entry) Touch(now time.Time) {
	// Writing at most once a second reduces contention for the cache line.
	seconds := now.Unix()
	if before := e.lastUsed.Load(); seconds <= before || !e.lastUsed.CompareAndSwap(before, seconds) {
		return
	}
	if e.usedSeconds.Load() < protectedUsedSeconds {
		e.usedSeconds.Add(1)
	}
}

// protectedUsedSeconds is the number of seconds with uses after which a host that only clients name
// is protected from eviction by unused hosts.
const protectedUsedSeconds = 2

// Key returns the key of the entry.
func (e *Entry) Key() Key { return e.key }

// Segment returns the segment of the cache that contains the entry.
func (e *Entry) Segment() Segment { return e.segment }

// MakeDue makes the next fetch due now, even if the entry waits after a failure. If a fetch is
// running, another fetch is due at its end, because the running fetch may have started before a
// change.
func (e *Entry) MakeDue() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.dueAfterFetch = e.fetchDone != nil; !e.dueAfterFetch {
		e.setNextFetchToNow()
	}
}

// setNextFetchToNow sets State.NextFetch to now. The caller must have locked e.mu, and no fetch may
// run.
func (e *Entry) setNextFetchToNow() {
	for s := e.state.Load(); s != nil; s = e.state.Load() {
		next := *s
		next.NextFetch = e.cache.now()
		if e.state.CompareAndSwap(s, &next) { // This must not replace a restored state.
			return
		}
	}
}

// State returns the state of the site, or nil before the end of the first fetch. The caller must
// not modify the state.
func (e *Entry) State() *State { return e.state.Load() }

// Current returns the current version of the robots.txt, or nil if no fetch has determined the
// rules yet. e can be nil.
func (e *Entry) Current() *Version {
	if e == nil {
		return nil
	}
	if state := e.State(); state != nil {
		return state.Current
	}
	return nil
}

// IsDue reports whether Refresh would fetch the robots.txt at now, apart from bounds: no fetch has
// ended yet, the time of the next fetch has come, or MakeDue or MarkPossiblyChanged requests a
// fetch.
func (e *Entry) IsDue(now time.Time) bool {
	s := e.state.Load()
	if s == nil || !now.Before(s.NextFetch) {
		return true
	}
	recheckAt := e.recheckAt.Load()
	return recheckAt != 0 && now.UnixNano() >= recheckAt
}

// changeRecheckInterval is the minimum time between the end of a fetch and a fetch because of
// MarkPossiblyChanged. The interval limits the fetches of a site whose responses always differ.
const changeRecheckInterval = 10 * time.Second

// MarkPossiblyChanged records that the copy may be outdated, for example because the site served
// another robots.txt. Without a copy, MarkPossiblyChanged records that a fetch may succeed again. The
// copy stays in use until the next fetch, so that a response to one client changes nothing for other
// clients. The entry is due, but at the earliest ten seconds after the last fetch. If the entry waits
// longer after a failure, for example because of a Retry-After, the wait is shortened to this time.
// The next fetch decides:
//
//   - If it succeeds, the mark is removed.
//   - If it fails, the mark stays, but the entry waits as after any failure.
//   - If it was running when the entry was marked, its file may be older than the change. The entry is
//     due again ten seconds after the end of the fetch.
func (e *Entry) MarkPossiblyChanged(now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.state.Load()
	if s == nil {
		return // The first fetch is due anyway.
	}
	at := s.lastFetch().Add(changeRecheckInterval)
	if at.Before(now) {
		at = now
	}
	e.recheckAt.Store(at.UnixNano())
	e.possiblyChanged.Store(true)
	e.markedWhileFetching = e.fetchDone != nil
}

// updateChangeMark updates the effect of MarkPossiblyChanged at the end of a fetch, whose result is the
// state after. The caller must have locked e.mu.
func (e *Entry) updateChangeMark(after *State) {
	if after.FailureCount == 0 {
		e.possiblyChanged.Store(e.markedWhileFetching)
	}
	var recheckAt int64
	if e.markedWhileFetching {
		recheckAt = after.lastFetch().Add(changeRecheckInterval).UnixNano()
	}
	e.recheckAt.Store(recheckAt)
	e.markedWhileFetching = false
}

// IsPossiblyChanged reports whether MarkPossiblyChanged was called, and no fetch that started later
// has succeeded.
func (e *Entry) IsPossiblyChanged() bool { return e.possiblyChanged.Load() }

// Refresh starts a goroutine that fetches the robots.txt, if IsDue. The goroutine ends soon after
// fetch returns. At most one such goroutine runs for an entry, and a bounded number for the
// segment. f determines the time of the next fetch after a good response. onFetched, if not nil, is
// called after each fetch, in the order of the fetches, with the states before and after the fetch.
//
// Refresh returns a channel that is closed at the end of the running fetch, which an earlier call
// may have started. Refresh returns nil if no fetch is running, because the entry is not due or the
// segment has too many fetches.
func (e *Entry) Refresh(f FreshnessPolicy, fetch func() FetchResult, onFetched func(before, after State)) <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.fetchDone != nil {
		return e.fetchDone
	}
	if !e.IsDue(e.cache.now()) || !e.cache.beginFetch(e) {
		return nil
	}
	done := make(chan struct{})
	e.fetchDone = done
	var previous, report chan struct{} // These channels keep the order of the calls of onFetched.
	if onFetched != nil {
		previous, report = e.lastCallbackDone, make(chan struct{})
		e.lastCallbackDone = report
	}
	go func() {
		before, after := e.applyResponse(fetch(), f)
		e.cache.endFetch(e)
		e.mu.Lock()
		e.fetchDone = nil
		if e.dueAfterFetch {
			e.dueAfterFetch = false
			e.setNextFetchToNow()
		}
		e.updateChangeMark(&after)
		e.mu.Unlock()
		close(done)
		if onFetched == nil {
			return
		}
		if previous != nil {
			<-previous // The calls come in the order of the fetches.
		}
		onFetched(before, after)
		e.mu.Lock()
		if e.lastCallbackDone == report {
			e.lastCallbackDone = nil
		}
		e.mu.Unlock()
		close(report)
	}()
	return done
}

// applyResponse sets the state to the state after a fetch with the result a, and returns the states
// before and after.
func (e *Entry) applyResponse(a FetchResult, f FreshnessPolicy) (before, next State) {
	for {
		before = State{}
		oldState := e.state.Load()
		if oldState != nil {
			before = *oldState
		}
		now := e.cache.now()
		next = before.AfterFetch(a, now, f, computeJitter(e.key, now))
		if next.Current != before.Current && next.Current.Derived == nil {
			next.Current.Derived = e.cache.computeDerived(next.Current.Robots)
		}
		if e.compareAndSwapState(oldState, &next) {
			return before, next
		}
	}
}

// computeJitter returns a number from 0 to below 1 for [State.AfterFetch], which distributes the
// fetches of many sites over time. The number depends only on the key and the time.
func computeJitter(key Key, now time.Time) float64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, key.String())
	_ = binary.Write(h, binary.LittleEndian, now.UnixNano())
	return float64(h.Sum64()>>11) / (1 << 53)
}

// compareAndSwapState sets the state to next if the state is still before, and reports whether it
// did. Each change of the versions of an entry goes through compareAndSwapState, which counts
// the memory of the files and evicts entries beyond the bound.
func (e *Entry) compareAndSwapState(before, next *State) bool {
	c := e.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.state.Load() != before {
		return false
	}
	if c.Get(e.key) != e {
		e.state.Store(next) // The entry was evicted meanwhile. Only waiting requests see the state.
		return true
	}
	seg := c.segments[e.segment]
	if before == nil || next.Current != before.Current || !slices.Equal(next.Previous, before.Previous) {
		if next.Current != nil {
			seg.versions.acquireAll(next)
		}
		seg.versions.releaseAll(before)
	}
	e.state.Store(next)
	c.shrinkToBytes(seg)
	return true
}

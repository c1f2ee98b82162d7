package policy

import "iter"

// evictionQueues order the entries of a segment for eviction. A new entry joins the queue
// probation. If the entry at the front of a queue was used since it joined, it moves to the end of
// the queue protected instead of being evicted. In probation, a host that only clients name must
// have been used in several seconds. So thousands of unknown hosts that are used once evict each
// other and no protected entry (Yang et al., FIFO queues are all you need for cache eviction, SOSP
// 2023).
type evictionQueues struct {
	probation, protected entryQueue
}

// entryQueue is an intrusive linked list of entries.
type entryQueue struct {
	first, last *Entry // The entry first is evicted first.
	len         int
}

// push appends an entry to the queue. The entry must be in no queue.
func (q *entryQueue) push(e *Entry) {
	if e.prevInQueue = q.last; e.prevInQueue == nil {
		q.first = e
	} else {
		e.prevInQueue.nextInQueue = e
	}
	q.last = e
	q.len++
}

// remove removes an entry from the queue. The entry must be in this queue.
func (q *entryQueue) remove(e *Entry) {
	if e.prevInQueue == nil {
		q.first = e.nextInQueue
	} else {
		e.prevInQueue.nextInQueue = e.nextInQueue
	}
	if e.nextInQueue == nil {
		q.last = e.prevInQueue
	} else {
		e.nextInQueue.prevInQueue = e.prevInQueue
	}
	e.prevInQueue, e.nextInQueue = nil, nil
	q.len--
}

// probationShare is the share of a segment, a tenth, that is reserved for the entries in probation.
const probationShare = 10

// len returns the number of entries in both queues.
func (q *evictionQueues) len() int { return q.probation.len + q.protected.len }

// add appends a new entry to the queue probation.
func (q *evictionQueues) add(e *Entry) { q.probation.push(e) }

// remove removes an entry from the queue that contains it.
func (q *evictionQueues) remove(e *Entry) {
	if e.protected {
		q.protected.remove(e)
	} else {
		q.probation.remove(e)
	}
}

// removeFirst removes and returns the entry at the front of probation, or else of protected, even
// if it is in use. The result is nil if both queues are empty.
func (q *evictionQueues) removeFirst() *Entry {
	for e := range q.allEntries() {
		q.remove(e)
		return e
	}
	return nil
}

// allEntries yields the entries of probation and then of protected, from front to end. The loop
// body may remove the entry.
func (q *evictionQueues) allEntries() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		for _, from := range []*entryQueue{&q.probation, &q.protected} {
			for e := from.first; e != nil; {
				next := e.nextInQueue // The caller may remove the entry.
				if !yield(e) {
					return
				}
				e = next
			}
		}
	}
}

// These are the maximum numbers of entries that one eviction skips because of their use: entries
// that are already in protected, and entries that move from probation to protected.
const (
	maxSecondChances = 32
	maxPromotions    = 1024
)

// removeLeastUsed removes and returns the entry to evict from a segment whose bound is maxEntries,
// or nil if both queues are empty. removeLeastUsed moves used entries to the end of protected,
// because Touch takes no lock and moves no entry. It also moves the entries that isIrreplaceable
// selects.
func (q *evictionQueues) removeLeastUsed(maxEntries int) *Entry {
	secondChances, promotions := min(maxSecondChances, q.protected.len), min(maxPromotions, q.probation.len)
	for {
		source := &q.probation
		if source.len == 0 || source.len <= maxEntries/probationShare && q.protected.len > 0 {
			source = &q.protected
		}
		e := source.first
		if e == nil {
			return nil
		}
		lastUsed := e.lastUsed.Load()
		usedWhileQueued := lastUsed > e.lastUsedWhenQueued && (e.protected || e.segment == ConfiguredHosts || e.usedSeconds.Load() >= protectedUsedSeconds)
		remaining := &promotions
		if e.protected {
			remaining = &secondChances
		}
		if *remaining--; *remaining < 0 || !usedWhileQueued && !e.isIrreplaceable() {
			source.remove(e)
			return e
		}
		e.lastUsedWhenQueued = max(lastUsed, e.lastUsedWhenQueued)
		q.promote(e)
	}
}

// promote moves an entry from its queue to the end of protected.
func (q *evictionQueues) promote(e *Entry) {
	q.remove(e)
	e.protected = true
	q.protected.push(e)
}

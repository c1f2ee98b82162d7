package policy

import "iter"

// evictionQueues order the entries of a segment for eviction. New entries are in probation. An entry that
// was used by the time of its eviction moves to protected. A host that only clients name must
// have been used in several seconds. So a thousand unknown hosts that are used once evict
// each other and no protected entry (Yang et al., FIFO queues are all you need for cache
// eviction, SOSP 2023).
type evictionQueues struct {
	probation, protected entryQueue
}

// entryQueue is an intrusive linked list of entries.
type entryQueue struct {
	first, last *Entry // first is evicted first
	len         int
}

// push appends an entry that is in no queue.
func (q *entryQueue) push(e *Entry) {
	if e.prevInQueue = q.last; e.prevInQueue == nil {
		q.first = e
	} else {
		e.prevInQueue.nextInQueue = e
	}
	q.last = e
	q.len++
}

// remove removes an entry.
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

// probationShare is the part of a segment that is reserved for entries on probation.
const probationShare = 10

func (q *evictionQueues) len() int { return q.probation.len + q.protected.len }

func (q *evictionQueues) add(e *Entry) { q.probation.push(e) }

// remove removes an entry from its queue.
func (q *evictionQueues) remove(e *Entry) {
	if e.protected {
		q.protected.remove(e)
	} else {
		q.probation.remove(e)
	}
}

// removeFirst removes and returns the entry to evict first, or nil.
func (q *evictionQueues) removeFirst() *Entry {
	for e := range q.allEntries() {
		q.remove(e)
		return e
	}
	return nil
}

// allEntries yields the entries in the order of eviction.
func (q *evictionQueues) allEntries() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		for _, from := range []*entryQueue{&q.probation, &q.protected} {
			for e := from.first; e != nil; {
				next := e.nextInQueue // the caller may remove the entry
				if !yield(e) {
					return
				}
				e = next
			}
		}
	}
}

// Maximum numbers of entries that an eviction skips: entries that are protected, and entries
// that become protected, which happens once each.
const (
	maxSecondChances = 32
	maxPromotions    = 1024
)

// removeLeastUsed removes and returns one entry from a segment with the given number of entries. evict
// returns nil for an empty queue. Uses are recorded without a lock, so evict queues a used entry
// again. It also queues an entry again that a fetch cannot restore.
func (q *evictionQueues) removeLeastUsed(entries int) *Entry {
	secondChances, promotions := min(maxSecondChances, q.protected.len), min(maxPromotions, q.probation.len)
	for {
		source := &q.probation
		if source.len == 0 || source.len <= entries/probationShare && q.protected.len > 0 {
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

// promote moves an entry to the end of the protected queue.
func (q *evictionQueues) promote(e *Entry) {
	q.remove(e)
	e.protected = true
	q.protected.push(e)
}

package policy

import "iter"

// queues order the entries of a segment for eviction. New entries are in fresh. An entry that
// was used by the time of its eviction moves to proven. A host that only clients name must
// have been used in several seconds. So a thousand invented hosts that are used once evict
// each other and no proven entry (Yang et al., FIFO queues are all you need for cache
// eviction, SOSP 2023).
type queues struct {
	fresh, proven queue
}

// queue is an intrusive linked list of entries.
type queue struct {
	first, last *Entry // first is evicted first
	len         int
}

// push appends an entry that is in no queue.
func (q *queue) push(e *Entry) {
	if e.ahead = q.last; e.ahead == nil {
		q.first = e
	} else {
		e.ahead.behind = e
	}
	q.last = e
	q.len++
}

// remove removes an entry.
func (q *queue) remove(e *Entry) {
	if e.ahead == nil {
		q.first = e.behind
	} else {
		e.ahead.behind = e.behind
	}
	if e.behind == nil {
		q.last = e.ahead
	} else {
		e.behind.ahead = e.ahead
	}
	e.ahead, e.behind = nil, nil
	q.len--
}

// freshPart is the part of a segment that is reserved for fresh entries.
const freshPart = 10

func (q *queues) len() int { return q.fresh.len + q.proven.len }

func (q *queues) add(e *Entry) { q.fresh.push(e) }

// remove removes an entry from its queue.
func (q *queues) remove(e *Entry) {
	if e.proven {
		q.proven.remove(e)
	} else {
		q.fresh.remove(e)
	}
}

// first removes and returns the entry to evict first, or nil.
func (q *queues) first() *Entry {
	for e := range q.all() {
		q.remove(e)
		return e
	}
	return nil
}

// all yields the entries in the order of eviction.
func (q *queues) all() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		for _, from := range []*queue{&q.fresh, &q.proven} {
			for e := from.first; e != nil; {
				next := e.behind // the caller may remove the entry
				if !yield(e) {
					return
				}
				e = next
			}
		}
	}
}

// Maximum numbers of entries that an eviction skips: entries that are proven, and entries
// that become proven, which happens once each.
const (
	maxChances = 32
	maxProven  = 1024
)

// evict removes one entry from a segment with the given number of entries. It returns nil if
// there is none. Uses are recorded without a lock, so an entry that was used is queued again.
// So is an entry that cannot be restored by fetching the file.
func (q *queues) evict(entries int) *Entry {
	chances, proofs := min(maxChances, q.proven.len), min(maxProven, q.fresh.len)
	for {
		from := &q.fresh
		if from.len == 0 || from.len <= entries/freshPart && q.proven.len > 0 {
			from = &q.proven
		}
		e := from.first
		if e == nil {
			return nil
		}
		used := e.used.Load()
		inUse := used > e.queuedAt && (e.proven || e.segment == Named || e.uses.Load() > 1)
		left := &proofs
		if e.proven {
			left = &chances
		}
		if *left--; *left < 0 || !inUse && !e.irreplaceable() {
			from.remove(e)
			return e
		}
		e.queuedAt = max(used, e.queuedAt)
		q.prove(e)
	}
}

// prove moves an entry to the end of the proven queue.
func (q *queues) prove(e *Entry) {
	q.remove(e)
	e.proven = true
	q.proven.push(e)
}

package policy

import (
	"container/list"
	"time"
)

// queues hold the entries of a segment in the order in which they go. Entries
// begin in fresh. One that is at the end there and was used since it was placed
// has proven to be in use; a host that only clients name has to be used in
// several seconds for that. So a thousand hosts that somebody invents, each used
// once, push out one another and none of the proven ones, however seldom these
// are used (after Yang et al., FIFO queues are all you need for cache eviction,
// SOSP 2023). An entry knows its place in them: there may be very many.
type queues struct {
	fresh, proven list.List // of *Entry, who goes first at the front
}

// freshPart is the part of a segment that fresh entries have for themselves.
const freshPart = 10

func (q *queues) len() int { return q.fresh.Len() + q.proven.Len() }

func (q *queues) add(e *Entry) { e.place = q.fresh.PushBack(e) }

// How many entries an eviction passes over, at most: entries that are proven
// already, and those that become so, which each does once.
const (
	maxChances = 32
	maxProven  = 1024
)

// evict takes out one entry of a segment for so many, nil if there is none. Uses
// are noted without a lock and without an order, so an entry that was used since
// it was placed is placed again. So is one that cannot be had again by reading
// the file.
func (q *queues) evict(now time.Time, entries int) *Entry {
	chances, proofs := min(maxChances, q.proven.Len()), min(maxProven, q.fresh.Len())
	for {
		from := &q.fresh
		if from.Len() == 0 || from.Len() <= entries/freshPart && q.proven.Len() > 0 {
			from = &q.proven
		}
		first := from.Front()
		if first == nil {
			return nil
		}
		e := first.Value.(*Entry)
		used := e.used.Load()
		inUse := used > e.placed && (e.proven || e.segment == Named || e.uses.Load() > 1)
		left := &proofs
		if e.proven {
			left = &chances
		}
		if *left--; *left < 0 || !inUse && !e.irreplaceable(now) {
			from.Remove(first)
			return e
		}
		e.placed = max(used, e.placed)
		q.prove(e)
	}
}

// prove places an entry behind those that are proven.
func (q *queues) prove(e *Entry) {
	if e.proven {
		q.proven.MoveToBack(e.place)
		return
	}
	q.fresh.Remove(e.place)
	e.proven, e.place = true, q.proven.PushBack(e)
}

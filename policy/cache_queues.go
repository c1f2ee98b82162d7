package policy

import "iter"

// queues hold the entries of a segment in the order in which they go. Entries
// begin in fresh. One that is at the end there and was used since it was placed
// has proven to be in use; a host that only clients name has to be used in
// several seconds for that. So a thousand hosts that somebody invents, each used
// once, push out one another and none of the proven ones, however seldom these
// are used (after Yang et al., FIFO queues are all you need for cache eviction,
// SOSP 2023).
type queues struct {
	fresh, proven queue
}

// queue holds entries in order. These know their neighbours themselves: there may be very many.
type queue struct {
	first, last *Entry // first goes first
	len         int
}

// push puts an entry last that is in no queue.
func (q *queue) push(e *Entry) {
	if e.ahead = q.last; e.ahead == nil {
		q.first = e
	} else {
		e.ahead.behind = e
	}
	q.last = e
	q.len++
}

// remove takes an entry out.
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

// freshPart is the part of a segment that fresh entries have for themselves.
const freshPart = 10

func (q *queues) len() int { return q.fresh.len + q.proven.len }

func (q *queues) add(e *Entry) { q.fresh.push(e) }

// remove takes an entry out of its queue.
func (q *queues) remove(e *Entry) {
	if e.proven {
		q.proven.remove(e)
	} else {
		q.fresh.remove(e)
	}
}

// first takes out the entry that goes first, nil if there is none.
func (q *queues) first() *Entry {
	for e := range q.all() {
		q.remove(e)
		return e
	}
	return nil
}

// all yields the entries in the order in which they go.
func (q *queues) all() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		for _, from := range []*queue{&q.fresh, &q.proven} {
			for e := from.first; e != nil; {
				next := e.behind // the entry may be taken out
				if !yield(e) {
					return
				}
				e = next
			}
		}
	}
}

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

// prove places an entry behind those that are proven.
func (q *queues) prove(e *Entry) {
	q.remove(e)
	e.proven = true
	q.proven.push(e)
}

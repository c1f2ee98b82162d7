package ledger

import (
	"sync/atomic"
)

// maxReadings is the maximum number of recorded robots fetches before counting.
const maxReadings = 1024

// reading is a recorded robots fetch before counting.
type reading struct {
	Request
	read   Read
	number uint64   // sequence number in the ledger, from 1
	other  *reading // previous reading; after take the next
}

// readings is a lock-free list of recorded robots fetches.
type readings struct {
	noted   atomic.Uint64 // total number since the start
	counted atomic.Uint64
	last    atomic.Pointer[reading]
}

// add adds a robots fetch. Requests that are recorded later come after it.
func (r *readings) add(x *reading) {
	x.number = r.noted.Add(1)
	for {
		x.other = r.last.Load()
		if r.last.CompareAndSwap(x.other, x) {
			return
		}
	}
}

// take removes all readings and returns the first. The others follow by the field other.
func (r *readings) take() (first *reading) {
	if r.last.Load() == nil {
		return nil // does not write, since all processors read this field
	}
	for x := r.last.Swap(nil); x != nil; {
		next := x.other
		x.other = first
		first, x = x, next
	}
	return first
}

// RecordRead records a crawler's robots fetch. Earlier recorded requests precede the fetch.
// RecordRead blocks only if maxReadings fetches wait for counting.
func (l *Ledger) RecordRead(q *Request, read Read) {
	x := &reading{Request: *q, read: read}
	x.Method, x.Target, x.UserAgent, x.Name, x.Host, x.Rule = "", "", "", "", "", Rule{}
	l.readings.add(x)
	if x.number-l.readings.counted.Load() > maxReadings {
		l.mu.Lock()
	} else if !l.mu.TryLock() {
		return // the next count includes this fetch
	}
	l.countReadings()
	l.mu.Unlock()
}

// countReadings counts the recorded robots fetches. l.mu must be held.
func (l *Ledger) countReadings() {
	for x := l.readings.take(); x != nil; x = x.other {
		s := l.site(x.Site)
		s.noted++
		w := l.row(s, crawler{x.Token, x.Named, x.Class, x.Identity}, x.read.At)
		if w.FirstSeen == 0 {
			w.FirstSeen, w.LastSeen = x.read.At, x.read.At
		}
		w.setRead(x.read, x.number)
		l.readings.counted.Add(1)
	}
}

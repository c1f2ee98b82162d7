package ledger

import (
	"sync/atomic"
)

// maxReadings bounds the readings that are noted and not counted.
const maxReadings = 1024

// reading is what the crawler of a request got for a robots.txt.
type reading struct {
	Request
	read   Read
	number uint64   // among those of the ledger, from 1
	other  *reading // the one before it, and once taken the one after it
}

// readings are those that are noted and not counted yet. Adding one takes no
// lock.
type readings struct {
	noted   atomic.Uint64 // since the start
	counted atomic.Uint64
	last    atomic.Pointer[reading]
}

// add takes note of a reading. Requests that are recorded from now on came after
// it.
func (r *readings) add(x *reading) {
	x.number = r.noted.Add(1)
	for {
		x.other = r.last.Load()
		if r.last.CompareAndSwap(x.other, x) {
			return
		}
	}
}

// take returns what is not counted yet, the first one with those after it.
func (r *readings) take() (first *reading) {
	if r.last.Load() == nil {
		return nil // without writing, for all processors look here
	}
	for x := r.last.Swap(nil); x != nil; {
		next := x.other
		x.other = first
		first, x = x, next
	}
	return first
}

// RecordRead takes note of what the crawler of a request got for a robots.txt.
// Requests that were recorded before it came before it. It waits only if
// maxReadings are noted and not counted.
func (l *Ledger) RecordRead(q *Request, read Read) {
	x := &reading{Request: *q, read: read}
	x.Method, x.Target, x.UserAgent, x.Name, x.Host, x.Rule = "", "", "", "", "", Rule{}
	l.readings.add(x)
	if x.number-l.readings.counted.Load() > maxReadings {
		l.mu.Lock()
	} else if !l.mu.TryLock() {
		return // whoever counts next begins with this one
	}
	l.countReadings()
	l.mu.Unlock()
}

// countReadings counts the readings that were noted. l.mu must be held.
func (l *Ledger) countReadings() {
	for x := l.readings.take(); x != nil; x = x.other {
		s := l.site(x.Site)
		s.noted++
		w := l.row(s, crawler{x.Token, x.Named, x.Class, x.Identity}, x.read.At)
		if w.FirstSeen == 0 {
			w.FirstSeen, w.LastSeen = x.read.At, x.read.At
		}
		w.noteRead(x.read, x.number)
		l.readings.counted.Add(1)
	}
}

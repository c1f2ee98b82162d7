package ledger

import (
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
)

// Bounds of the buffers: requests after which a buffer is to be counted, those
// that all buffers together can hold while somebody else is counting, and bytes
// of what clients have sent with each, on average.
const (
	bufferRequests = 64
	maxPending     = 128 * bufferRequests
	requestBytes   = 256
)

// maxBuffers is for how many processors there are buffers.
const maxBuffers = 64

// pending is a request that is noted but not yet counted. What its client has
// sent stands in the text beside it.
type pending struct {
	Request
	at, since             int64 // in Unix milliseconds
	method, target, agent span
}

type span struct{ from, to int }

// notes are requests in the order in which they came.
type notes struct {
	pending []pending
	text    []byte
}

// add takes note of a request.
func (n *notes) add(q *Request) {
	if n.pending == nil {
		n.pending = make([]pending, 0, bufferRequests)
		n.text = make([]byte, 0, bufferRequests*requestBytes)
	}
	p := pending{Request: *q, at: q.At.UnixMilli()}
	if !q.Since.IsZero() {
		p.since = q.Since.UnixMilli()
	}
	p.method = n.keep(cut(q.Method, maxMethod))
	p.agent = n.keep(cut(q.UserAgent, maxAgent))
	if q.Verdict == Disallowed || q.Verdict == Stale {
		p.target = n.keep(cut(q.Target, maxTarget))
	}
	p.Method, p.Target, p.UserAgent = "", "", ""
	n.pending = append(n.pending, p)
}

func (n *notes) keep(s string) span {
	from := len(n.text)
	n.text = append(n.text, s...)
	return span{from, len(n.text)}
}

// room reports whether another request fits if there are to be this many at
// most.
func (n *notes) room(most int) bool {
	return len(n.pending) < most && len(n.text) <= most*requestBytes-maxMethod-maxAgent-maxTarget
}

// all returns the requests with what their clients have sent, each until the
// next.
func (n *notes) all() iter.Seq[*pending] {
	return func(yield func(*pending) bool) {
		text := string(n.text)
		for i := range n.pending {
			p := &n.pending[i]
			p.Method, p.Target, p.UserAgent = text[p.method.from:p.method.to], text[p.target.from:p.target.to], text[p.agent.from:p.agent.to]
			if !yield(p) {
				return
			}
		}
	}
}

// clear forgets the requests, which refer to files and other requests.
func (n *notes) clear() {
	clear(n.pending)
	n.pending, n.text = n.pending[:0], n.text[:0]
}

// buffer takes note of requests until there are enough of them to count them
// all at once, and then until nobody else is counting.
type buffer struct {
	mu sync.Mutex
	notes
	most  int // requests
	place int // among all buffers

	_ [64]byte // no two of them in one cache line
}

// ripe reports whether there is enough to count.
func (b *buffer) ripe() bool { return !b.room(bufferRequests) }

// buffers lets every processor have a buffer for itself most of the time.
type buffers struct {
	all  []*buffer
	near sync.Pool     // of buffers that this processor has used; none is lost if it forgets one
	next atomic.Uint32 // for processors that have used none
}

func newBuffers() *buffers {
	b := &buffers{all: make([]*buffer, min(2*runtime.GOMAXPROCS(0), maxBuffers))}
	for i := range b.all {
		b.all[i] = &buffer{most: maxPending / len(b.all), place: i}
	}
	return b
}

// lock returns a buffer with room for a request, and holds its lock. It returns
// nil if there is none, and waits for nobody.
func (b *buffers) lock() *buffer {
	near, _ := b.near.Get().(*buffer)
	if near == nil {
		near = b.all[int(b.next.Add(1))%len(b.all)]
	}
	for i := range b.all {
		x := b.all[(near.place+i)%len(b.all)]
		if !x.mu.TryLock() {
			continue
		}
		if x.room(x.most) {
			return x
		}
		x.mu.Unlock()
	}
	return nil
}

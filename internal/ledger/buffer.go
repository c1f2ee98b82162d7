package ledger

import (
	"runtime"
	"sync"
)

// Bounds of a buffer: requests, and bytes of what clients have sent with them.
const (
	bufferRequests = 64
	bufferBytes    = bufferRequests * 256
)

// pending is a request that is noted but not yet counted. What its client has
// sent stands in the text of the buffer.
type pending struct {
	Request
	at, since             int64 // in Unix milliseconds
	method, target, agent span
}

type span struct{ from, to int }

// buffer takes note of requests until there are enough of them to count them
// all at once.
type buffer struct {
	mu      sync.Mutex
	pending []pending
	text    []byte

	_ [64]byte // no two of them in one cache line
}

// buffers lets every processor have a buffer for itself most of the time.
type buffers struct {
	all  []*buffer
	free sync.Pool // of buffers; none is lost if it forgets one
	next chan *buffer
}

func newBuffers() *buffers {
	b := &buffers{all: make([]*buffer, min(2*runtime.GOMAXPROCS(0), 64))}
	b.next = make(chan *buffer, len(b.all))
	for i := range b.all {
		b.all[i] = new(buffer)
		b.next <- b.all[i]
	}
	return b
}

// get returns a buffer for the processor at hand. Somebody else may have the
// same.
func (b *buffers) get() *buffer {
	if free, _ := b.free.Get().(*buffer); free != nil {
		return free
	}
	next := <-b.next
	b.next <- next
	return next
}

// add takes note of a request. It reports whether the buffer is full then.
func (b *buffer) add(q *Request) (full bool) {
	if b.pending == nil {
		b.pending = make([]pending, 0, bufferRequests)
		b.text = make([]byte, 0, bufferBytes)
	}
	p := pending{Request: *q, at: q.At.UnixMilli()}
	if !q.Since.IsZero() {
		p.since = q.Since.UnixMilli()
	}
	p.method = b.keep(cut(q.Method, maxMethod))
	p.agent = b.keep(cut(q.UserAgent, maxAgent))
	if q.Verdict == Disallowed || q.Verdict == Stale {
		p.target = b.keep(cut(q.Target, maxTarget))
	}
	p.Method, p.Target, p.UserAgent = "", "", ""
	b.pending = append(b.pending, p)
	return len(b.pending) == cap(b.pending) || len(b.text) > cap(b.text)-maxMethod-maxAgent-maxTarget
}

func (b *buffer) keep(s string) span {
	from := len(b.text)
	b.text = append(b.text, s...)
	return span{from, len(b.text)}
}

// drain counts what was noted.
func (b *buffer) drain(count func(*pending)) {
	text := string(b.text)
	for i := range b.pending {
		p := &b.pending[i]
		p.Method, p.Target, p.UserAgent = text[p.method.from:p.method.to], text[p.target.from:p.target.to], text[p.agent.from:p.agent.to]
		count(p)
	}
	clear(b.pending) // they refer to files and requests
	b.pending, b.text = b.pending[:0], b.text[:0]
}

package ledger

import (
	"iter"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// Bounds of the buffers: requests after which a buffer is to be counted, those
// that all buffers together can hold while somebody else is counting, and bytes
// of what clients have sent with each, on average.
const (
	bufferRequests = 64
	maxPending     = 128 * bufferRequests
	requestBytes   = 256
)

// How many buffers there are: two for each processor, but some in any case, for
// the number of processors may change.
const (
	minBuffers = 16
	maxBuffers = 64
)

// pending is a request that is noted but not yet counted. What its client has
// sent stands in the text beside it.
type pending struct {
	Request
	at, since             int64  // in Unix milliseconds
	readings              uint64 // that were noted before it
	method, target, agent span
	name, host            span
}

type span struct{ from, to int }

// notes are requests in the order in which they came.
type notes struct {
	pending []pending
	text    []byte
	answers []answer
	visits  []visit
}

// add takes note of a request, before which so many readings were noted.
func (n *notes) add(q *Request, readings uint64) {
	if n.pending == nil {
		n.pending = make([]pending, 0, bufferRequests)
		n.text = make([]byte, 0, bufferRequests*requestBytes)
	}
	p := pending{Request: *q, at: q.At.UnixMilli(), readings: readings}
	if !q.Since.IsZero() {
		p.since = q.Since.UnixMilli()
	}
	p.method = n.keep(text.Cut(q.Method, maxMethod))
	p.agent = n.keep(text.Cut(q.UserAgent, maxAgent))
	p.name, p.host = n.keep(text.Cut(q.Name, maxToken)), n.keep(text.Cut(q.Host, maxSiteName))
	if q.Verdict == judge.Disallowed || q.Verdict == judge.Stale {
		p.target = n.keep(text.Cut(q.Target, maxTarget))
	}
	p.Method, p.Target, p.UserAgent, p.Name, p.Host = "", "", "", "", ""
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
	return len(n.pending) < most && len(n.answers) < most && len(n.visits) < most && len(n.text) <= most*requestBytes-maxMethod-maxAgent-maxTarget-maxToken-maxSiteName
}

// all returns the requests with what their clients have sent, each until the
// next.
func (n *notes) all() iter.Seq[*pending] {
	return func(yield func(*pending) bool) {
		text := string(n.text)
		for i := range n.pending {
			p := &n.pending[i]
			p.Method, p.Target, p.UserAgent = text[p.method.from:p.method.to], text[p.target.from:p.target.to], text[p.agent.from:p.agent.to]
			p.Name, p.Host = text[p.name.from:p.name.to], text[p.host.from:p.host.to]
			if !yield(p) {
				return
			}
		}
	}
}

// clear forgets the requests and answers, which refer to files and other requests.
func (n *notes) clear() {
	clear(n.pending)
	clear(n.answers)
	clear(n.visits)
	n.pending, n.text, n.answers, n.visits = n.pending[:0], n.text[:0], n.answers[:0], n.visits[:0]
}

// buffer takes note of requests until there are enough of them to count them
// all at once, and then until nobody else is counting.
type buffer struct {
	mu sync.Mutex
	notes
	most int // requests

	_ [64]byte // no two of them in one cache line
}

// ripe reports whether there is enough to count.
func (b *buffer) ripe() bool { return !b.room(bufferRequests) }

// buffers are so many that there is always one that nobody else uses just now,
// even if all others have lost the processor while they did.
type buffers struct{ all []*buffer }

func newBuffers() *buffers {
	b := &buffers{all: make([]*buffer, min(max(2*runtime.GOMAXPROCS(0), minBuffers), maxBuffers))}
	for i := range b.all {
		b.all[i] = &buffer{most: maxPending / len(b.all)}
	}
	return b
}

// lock returns a buffer with room for a request, and holds its lock. It returns
// nil if there is none, and waits for nobody.
func (b *buffers) lock() *buffer {
	first := rand.IntN(len(b.all)) // a sync.Pool has a lock, which is taken after every collection of garbage
	for i := range b.all {
		x := b.all[(first+i)%len(b.all)]
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

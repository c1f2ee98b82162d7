package ledger

import (
	"math/rand/v2"
	"net/netip"
	"runtime"
	"sync"
	"unsafe"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// Bounds of the buffers: requests at which a buffer is due for counting, requests in all
// buffers together, and average bytes of text a request. The total covers the requests during
// a count whose goroutine lost the processor. It needs at most 20 MB for that time.
const (
	bufferRequests = 64
	maxPending     = 512 * bufferRequests
	requestBytes   = 64
)

// textBytes is the average text a request in a buffer that is due for counting. It is the
// length of a User-Agent.
const textBytes = 160

// Bounds on the number of buffers, which is two for each processor. The number of processors
// can change.
const (
	minBuffers = 16
	maxBuffers = 64
)

// maxText is the maximum text of a request in bytes.
const maxText = maxMethod + maxAgent + maxTarget + maxToken + maxSiteName + maxRule

// roomy is the capacity in requests that a batch retains after counting.
const roomy = 4 * bufferRequests

// batch is a list of recorded requests, answers and visits before counting. Strings from clients
// are copied to text. All other strings belong to the configuration, the registry and the
// robots.txt, which live longer.
type batch struct {
	requests []Request
	answers  []Answer
	visits   []visit
	text     []byte
}

// add records a request without the fields that only disallowed and stale requests need.
func (b *batch) add(q *Request) {
	b.requests = append(b.requests, *q)
	p := &b.requests[len(b.requests)-1]
	if !q.MayRetainUserAgent {
		p.UserAgent = b.copyString(q.UserAgent, maxAgent)
	}
	p.Name, p.Host = b.copyString(q.Name, maxToken), b.copyString(q.Host, maxSiteName)
	if q.Verdict == judge.Disallowed || q.Verdict == judge.Stale {
		p.Method, p.Target, p.Rule.Text = b.copyString(q.Method, maxMethod), b.copyString(q.Target, maxTarget), b.copyString(q.Rule.Text, maxRule)
	} else {
		p.Method, p.Target, p.Rule.Text, p.Network = "", "", "", netip.Prefix{}
	}
}

// copyString returns a copy of at most most bytes of a string. The copy is valid until the batch is
// cleared.
func (b *batch) copyString(s string, most int) string {
	from := len(b.text)
	b.text = append(b.text, text.Truncate(s, most)...)
	return unsafe.String(unsafe.SliceData(b.text[from:]), len(b.text)-from)
}

// textCapacity returns the capacity in bytes for the strings of the given number of requests. A buffer
// due for counting has more room.
func textCapacity(requests int) int { return max(requests*requestBytes, bufferRequests*textBytes) }

// hasRoom reports whether another request fits within most requests.
func (b *batch) hasRoom(most int) bool {
	return len(b.requests) < most && len(b.answers) < most && len(b.visits) < most && len(b.text) <= textCapacity(most)-maxText
}

// clear removes all records, and releases their memory.
func (b *batch) clear() {
	if cap(b.requests) > roomy || cap(b.answers) > roomy || cap(b.visits) > roomy {
		*b = batch{} // after a long delay
		return
	}
	clear(b.requests)
	clear(b.answers)
	clear(b.visits)
	b.requests, b.answers, b.visits, b.text = b.requests[:0], b.answers[:0], b.visits[:0], b.text[:0]
}

// buffer records requests until it is due for counting, and further until the ledger is free
// to count.
type buffer struct {
	mu sync.Mutex
	batch
	maxRequests int // maximum number of requests

	_ [64]byte // prevents false sharing
}

// isDue reports whether the buffer is due for counting.
func (b *buffer) isDue() bool { return !b.hasRoom(bufferRequests) }

// buffers are so many that one is always free, even if goroutines lose the processor while using
// the others.
type buffers struct {
	all []*buffer
	// number of preferred buffers, one for each processor; fewer buffers stay in the CPU caches
	numPreferred int
}

func newBuffers() *buffers {
	b := &buffers{all: make([]*buffer, min(max(2*runtime.GOMAXPROCS(0), minBuffers), maxBuffers))}
	b.numPreferred = min(runtime.GOMAXPROCS(0), len(b.all))
	for i := range b.all {
		b.all[i] = &buffer{maxRequests: maxPending / len(b.all)}
	}
	return b
}

// lockFree locks and returns a buffer with room, or nil if no buffer is free. lockFree does not wait.
func (b *buffers) lockFree() *buffer {
	first := rand.IntN(b.numPreferred) // a sync.Pool locks after every garbage collection
	for i := range b.all {
		x := b.all[(first+i)%len(b.all)]
		if !x.mu.TryLock() {
			continue
		}
		if x.hasRoom(x.maxRequests) {
			return x
		}
		x.mu.Unlock()
	}
	return nil
}

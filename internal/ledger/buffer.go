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

// These are bounds of the buffers: number of requests at which the ledger counts a buffer, number
// of requests in all buffers together, and average bytes of strings per request. Many requests wait
// if the goroutine that counts has lost the processor. They need at most 20 MB.
const (
	bufferRequests        = 64
	maxPendingRequests    = 512 * bufferRequests
	maxAverageStringBytes = 64
)

// dueAverageStringBytes is the average number of bytes of strings per request at which the ledger
// counts the requests in a buffer. A typical User-Agent is as long.
const dueAverageStringBytes = 160

// These are bounds on the number of buffers, which is two for each processor. The number of
// processors can change.
const (
	minBuffers = 16
	maxBuffers = 64
)

// maxStringBytes is the maximum size of the strings of a request in bytes.
const maxStringBytes = maxMethodBytes + maxUserAgentBytes + maxTargetBytes + maxTokenBytes + maxSiteNameBytes + maxRuleBytes

// maxRetainedCapacity is the capacity in requests that a recordBatch retains after counting.
const maxRetainedCapacity = 4 * bufferRequests

// recordBatch contains recorded requests, responses and visits that are not counted yet. Strings
// from clients are copied into the field strings, except a User-Agent with MayRetainUserAgent. All
// other strings belong to the program, the configuration, the registry or a robots.txt, and do not
// change.
type recordBatch struct {
	requests  []Request
	responses []Response
	visits    []humanVisit
	strings   []byte
}

// addRequest appends a request. For a request that is neither disallowed nor stale, it leaves out
// the method, the target, the text of the rule and the network.
func (b *recordBatch) addRequest(q *Request) {
	b.requests = append(b.requests, *q)
	p := &b.requests[len(b.requests)-1]
	if !q.MayRetainUserAgent {
		p.UserAgent = b.copyString(q.UserAgent, maxUserAgentBytes)
	}
	p.Name, p.Host = b.copyString(q.Name, maxTokenBytes), b.copyString(q.Host, maxSiteNameBytes)
	if q.Verdict == judge.Disallowed || q.Verdict == judge.Stale {
		p.Method, p.Target, p.Rule.Text = b.copyString(q.Method, maxMethodBytes), b.copyString(q.Target, maxTargetBytes), b.copyString(q.Rule.Text, maxRuleBytes)
	} else {
		p.Method, p.Target, p.Rule.Text, p.Network = "", "", "", netip.Prefix{}
	}
}

// copyString returns a copy of s, shortened to at most maxBytes bytes. The copy is valid until
// [recordBatch.clear] is called.
func (b *recordBatch) copyString(s string, maxBytes int) string {
	from := len(b.strings)
	b.strings = append(b.strings, text.Truncate(s, maxBytes)...)
	return unsafe.String(unsafe.SliceData(b.strings[from:]), len(b.strings)-from)
}

// stringCapacity returns the maximum number of bytes of strings in a batch with the given maximum
// number of requests.
func stringCapacity(requests int) int {
	return max(requests*maxAverageStringBytes, bufferRequests*dueAverageStringBytes)
}

// hasRoom reports whether the batch can take another request without exceeding maxRequests.
func (b *recordBatch) hasRoom(maxRequests int) bool {
	return len(b.requests) < maxRequests && len(b.responses) < maxRequests && len(b.visits) < maxRequests && len(b.strings) <= stringCapacity(maxRequests)-maxStringBytes
}

// clear removes all records. It releases the memory of a batch that became larger than usual.
func (b *recordBatch) clear() {
	if cap(b.requests) > maxRetainedCapacity || cap(b.responses) > maxRetainedCapacity || cap(b.visits) > maxRetainedCapacity {
		*b = recordBatch{} // The batch grew while counting was delayed, so its memory is freed.
		return
	}
	clear(b.requests)
	clear(b.responses)
	clear(b.visits)
	b.requests, b.responses, b.visits, b.strings = b.requests[:0], b.responses[:0], b.visits[:0], b.strings[:0]
}

// recordBuffer collects records until the ledger counts them. It takes more than bufferRequests
// records while the ledger is busy, and at most maxRequests.
type recordBuffer struct {
	mu sync.Mutex
	recordBatch
	maxRequests int // maxRequests is the maximum number of requests in the buffer.

	_ [64]byte // This prevents false sharing.
}

// isDue reports whether the buffer has so many records that the ledger should count them.
func (b *recordBuffer) isDue() bool { return !b.hasRoom(bufferRequests) }

// bufferPool has so many buffers that one is usually free, even if goroutines lose the processor
// while using others.
type bufferPool struct {
	buffers []*recordBuffer
	// numPreferred is the number of preferred buffers, one for each processor. A small number of
	// buffers stays in the CPU caches.
	numPreferred int
}

func newBufferPool() *bufferPool {
	b := &bufferPool{buffers: make([]*recordBuffer, min(max(2*runtime.GOMAXPROCS(0), minBuffers), maxBuffers))}
	b.numPreferred = min(runtime.GOMAXPROCS(0), len(b.buffers))
	for i := range b.buffers {
		b.buffers[i] = &recordBuffer{maxRequests: maxPendingRequests / len(b.buffers)}
	}
	return b
}

// lockAvailable locks and returns a buffer with room. It does not wait, and returns nil if all
// buffers are locked or full.
func (b *bufferPool) lockAvailable() *recordBuffer {
	first := rand.IntN(b.numPreferred) // A sync.Pool would lock after every garbage collection.
	for i := range b.buffers {
		x := b.buffers[(first+i)%len(b.buffers)]
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

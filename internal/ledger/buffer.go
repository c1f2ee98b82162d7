package ledger

import (
	"iter"
	"math"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"sync"
	"unsafe"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Bounds of the buffers: requests after which a buffer is to be counted, those
// that all buffers together can hold while somebody else is counting, and bytes
// of what clients have sent with each, on average. Together they are what comes while
// who counts has lost the processor to dozens of others, and take 14 MB at most, for as
// long as that lasts.
const (
	bufferRequests = 64
	maxPending     = 512 * bufferRequests
	requestBytes   = 160
)

// How many buffers there are: two for each processor, but some in any case, for
// the number of processors may change.
const (
	minBuffers = 16
	maxBuffers = 64
)

// pending is a request that is noted but not yet counted: what is kept of it until
// then, with the names of a [Request]. Its strings are those of the configuration, the
// registry and the robots.txt, which live longer. What its client has sent stands one
// after the other in the text beside it.
type pending struct {
	crawler
	Site      string
	Rule      Rule
	Network   netip.Prefix
	at, since int64  // in Unix milliseconds
	readings  uint64 // that were noted before it
	GroupLine int32

	Verdict                                    judge.Verdict
	Action                                     judge.Action
	Shared, WouldBlock, Against, Slowed, Shed  bool
	from                                       uint32 // in the text
	agent, method, target, clientName, hostLen uint16 // how long each is, in this order
}

// crawler is who sent a request, as far as the ledger tells one from another.
type crawler struct {
	Token    string
	Named    bool
	Class    uaident.Class
	Identity verify.State
}

// counted is a request while it is counted, with what its client has sent.
type counted struct {
	*pending
	UserAgent, Method, Target, Name, Host string // until the next
}

// notes are requests in the order in which they came.
type notes struct {
	pending []pending
	text    []byte
	answers []answer
	visits  []visit
}

// roomy is how many requests notes have room for once they were counted.
const roomy = 4 * bufferRequests

// add takes note of a request, before which so many readings were noted.
func (n *notes) add(q *Request, readings uint64) {
	if n.pending == nil {
		n.pending = make([]pending, 0, bufferRequests)
		n.text = make([]byte, 0, bufferRequests*requestBytes)
	}
	n.pending = append(n.pending, pending{})
	p := &n.pending[len(n.pending)-1]
	p.crawler = crawler{q.Token, q.Named, q.Class, q.Identity}
	p.Site, p.Rule, p.Network, p.GroupLine = q.Site, q.Rule, q.Network, int32(min(q.GroupLine, math.MaxInt32))
	p.at, p.readings = q.At.UnixMilli(), readings
	if !q.Since.IsZero() {
		p.since = q.Since.UnixMilli()
	}
	p.Verdict, p.Action = q.Verdict, q.Action
	p.Shared, p.WouldBlock, p.Against, p.Slowed, p.Shed = q.Shared, q.WouldBlock, q.Against, q.Slowed, q.Shed
	p.from = uint32(len(n.text))
	p.agent = n.keep(q.UserAgent, maxAgent)
	if q.Verdict == judge.Disallowed || q.Verdict == judge.Stale {
		p.method, p.target = n.keep(q.Method, maxMethod), n.keep(q.Target, maxTarget)
	}
	p.clientName, p.hostLen = n.keep(q.Name, maxToken), n.keep(q.Host, maxSiteName)
}

// keep keeps a text, and returns how many bytes of it.
func (n *notes) keep(s string, most int) uint16 {
	s = text.Cut(s, most)
	n.text = append(n.text, s...)
	return uint16(len(s))
}

// room reports whether another request fits if there are to be this many at
// most.
func (n *notes) room(most int) bool {
	return len(n.pending) < most && len(n.answers) < most && len(n.visits) < most && len(n.text) <= most*requestBytes-maxMethod-maxAgent-maxTarget-maxToken-maxSiteName
}

// all returns the requests with what their clients have sent, each until the next.
// Nothing may keep these texts: the next requests are written over them.
func (n *notes) all() iter.Seq[*counted] {
	return func(yield func(*counted) bool) {
		text := unsafe.String(unsafe.SliceData(n.text), len(n.text))
		for i := range n.pending {
			p := &n.pending[i]
			rest := text[p.from:]
			next := func(length uint16) (s string) {
				s, rest = rest[:length], rest[length:]
				return s
			}
			if !yield(&counted{p, next(p.agent), next(p.method), next(p.target), next(p.clientName), next(p.hostLen)}) {
				return
			}
		}
	}
}

// clear forgets the requests and answers, which refer to files and other requests.
func (n *notes) clear() {
	if cap(n.pending) > roomy || cap(n.answers) > roomy || cap(n.visits) > roomy {
		*n = notes{} // nobody could count for long
		return
	}
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

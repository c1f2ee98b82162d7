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
// that all buffers together can hold while somebody else is counting, and bytes of text
// with each, on average. Together they are what comes while who counts has lost the
// processor to dozens of others, and take 20 MB at most, for as long as that lasts.
const (
	bufferRequests = 64
	maxPending     = 1024 * bufferRequests
	requestBytes   = 64
)

// textBytes are those of a buffer that is to be counted: as many as a User-Agent has, for
// each of its requests.
const textBytes = 160

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
	lasting   string // its User-Agent, where that may be kept
	at        int64  // in Unix milliseconds
	readings  uint64 // that were noted before it
	file      uint32 // the place of what it was judged by
	line      int32  // of the rule
	GroupLine int32
	from      uint32 // in the text

	Verdict                                                   judge.Verdict
	Action                                                    judge.Action
	Shared, WouldBlock, Against, Slowed                       bool
	agent, method, target, clientName, hostLen, rule, network uint16 // how long each is, in this order
}

// judgedBy is the part of a robots.txt that requests were judged by.
type judgedBy struct {
	version Version
	group   string
	since   int64 // in Unix milliseconds
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
	Rule                                  Rule
	since                                 int64        // when the version was first read, in Unix milliseconds
	Network                               netip.Prefix // only of one that is forbidden, as the text of the rule
	UserAgent, Method, Target, Name, Host string       // until the next
}

// notes are requests in the order in which they came.
type notes struct {
	pending []pending
	files   []judgedBy
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
		n.text = make([]byte, 0, bufferRequests*textBytes)
	}
	n.pending = append(n.pending, pending{})
	p := &n.pending[len(n.pending)-1]
	p.crawler = crawler{q.Token, q.Named, q.Class, q.Identity}
	p.Site, p.at, p.readings = q.Site, q.At.UnixMilli(), readings
	p.file, p.line, p.GroupLine = n.judgedBy(q), int32(min(q.Rule.Line, math.MaxInt32)), int32(min(q.GroupLine, math.MaxInt32))
	p.Verdict, p.Action = q.Verdict, q.Action
	p.Shared, p.WouldBlock, p.Against, p.Slowed = q.Shared, q.WouldBlock, q.Against, q.Slowed
	p.from = uint32(len(n.text))
	if q.Lasting {
		p.lasting = text.Cut(q.UserAgent, maxAgent)
	} else {
		p.agent = n.keep(q.UserAgent, maxAgent)
	}
	outside := q.Verdict == judge.Disallowed || q.Verdict == judge.Stale
	if outside {
		p.method, p.target = n.keep(q.Method, maxMethod), n.keep(q.Target, maxTarget)
	}
	p.clientName, p.hostLen = n.keep(q.Name, maxToken), n.keep(q.Host, maxSiteName)
	if outside {
		p.rule, p.network = n.keep(q.Rule.Text, maxRule), n.keepNetwork(q.Network)
	}
}

// judgedBy returns the place of what a request was judged by: most are judged by the same
// as the one before.
func (n *notes) judgedBy(q *Request) uint32 {
	by := judgedBy{version: q.Rule.Version, group: q.Rule.Group}
	if !q.Since.IsZero() {
		by.since = q.Since.UnixMilli()
	}
	if last := len(n.files) - 1; last < 0 || n.files[last] != by {
		n.files = append(n.files, by)
	}
	return uint32(len(n.files) - 1)
}

// keep keeps a text, and returns how many bytes of it.
func (n *notes) keep(s string, most int) uint16 {
	s = text.Cut(s, most)
	n.text = append(n.text, s...)
	return uint16(len(s))
}

// keepNetwork keeps a network, and returns in how many bytes.
func (n *notes) keepNetwork(network netip.Prefix) uint16 {
	if !network.IsValid() {
		return 0
	}
	before := len(n.text)
	n.text, _ = network.AppendBinary(n.text) // which has no error
	return uint16(len(n.text) - before)
}

// maxText is how much text a request has at most, with a network of IPv6.
const maxText = maxMethod + maxAgent + maxTarget + maxToken + maxSiteName + maxRule + 17

// textOf returns how many bytes of text there is room for with so many requests. Those
// that are to be counted anyway may have more.
func textOf(requests int) int { return max(requests*requestBytes, bufferRequests*textBytes) }

// room reports whether another request fits if there are to be this many at
// most.
func (n *notes) room(most int) bool {
	return len(n.pending) < most && len(n.answers) < most && len(n.visits) < most && len(n.text) <= textOf(most)-maxText
}

// all returns the requests with what their clients have sent, each until the next.
// Nothing may keep these texts: the next requests are written over them.
func (n *notes) all() iter.Seq[*counted] {
	return func(yield func(*counted) bool) {
		text := unsafe.String(unsafe.SliceData(n.text), len(n.text))
		var q counted
		for i := range n.pending {
			p := &n.pending[i]
			rest := text[p.from:]
			next := func(length uint16) (s string) {
				s, rest = rest[:length], rest[length:]
				return s
			}
			by := &n.files[p.file]
			q.pending, q.since = p, by.since
			if q.UserAgent = p.lasting; q.UserAgent == "" {
				q.UserAgent = next(p.agent)
			}
			q.Method, q.Target, q.Name, q.Host = next(p.method), next(p.target), next(p.clientName), next(p.hostLen)
			q.Rule, q.Network = Rule{by.version, int(p.line), next(p.rule), by.group}, netip.Prefix{}
			if p.network > 0 {
				_ = q.Network.UnmarshalBinary([]byte(next(p.network))) // as keepNetwork has it
			}
			if !yield(&q) {
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
	clear(n.files)
	clear(n.answers)
	clear(n.visits)
	n.pending, n.files, n.text, n.answers, n.visits = n.pending[:0], n.files[:0], n.text[:0], n.answers[:0], n.visits[:0]
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
type buffers struct {
	all []*buffer
	// first is how many of them are tried first, one for each processor: the fewer, the
	// more of them is in the caches.
	first int
}

func newBuffers() *buffers {
	b := &buffers{all: make([]*buffer, min(max(2*runtime.GOMAXPROCS(0), minBuffers), maxBuffers))}
	b.first = min(runtime.GOMAXPROCS(0), len(b.all))
	for i := range b.all {
		b.all[i] = &buffer{most: maxPending / len(b.all)}
	}
	return b
}

// lock returns a buffer with room for a request, and holds its lock. It returns
// nil if there is none, and waits for nobody.
func (b *buffers) lock() *buffer {
	first := rand.IntN(b.first) // a sync.Pool has a lock, which is taken after every collection of garbage
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

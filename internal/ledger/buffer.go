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

// Bounds of the buffers: requests at which a buffer is due for counting, requests in all
// buffers together, and average bytes of text a request. The total covers the requests during
// a count whose goroutine lost the processor. It needs at most 20 MB for that time.
const (
	bufferRequests = 64
	maxPending     = 1024 * bufferRequests
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

// pending is a recorded request before counting. Its strings belong to the configuration, the
// registry and the robots.txt, which live longer. Strings from the client are appended to
// notes.text.
type pending struct {
	crawler
	Site      string
	lasting   string // User-Agent, if it can be retained
	at        int64  // in Unix milliseconds
	file      uint32 // index in notes.files
	line      int32  // of the rule
	GroupLine int32
	from      uint32 // offset in notes.text

	Verdict                                                   judge.Verdict
	Action                                                    judge.Action
	Shared, WouldBlock, Against, Slowed                       bool
	agent, method, target, clientName, hostLen, rule, network uint16 // lengths, in this order
}

// decidingFile is the group and version that decided requests.
type decidingFile struct {
	version Version
	group   string
	since   int64 // in Unix milliseconds
}

// crawler identifies the sender of a request in the ledger.
type crawler struct {
	Token    string
	Named    bool
	Class    uaident.Class
	Identity verify.State
}

// counted is a request during counting, with the strings from the client.
type counted struct {
	*pending
	Rule                                  Rule
	since                                 int64        // first fetch of the version, in Unix milliseconds
	Network                               netip.Prefix // of disallowed and stale requests only, as is the text of the rule
	UserAgent, Method, Target, Name, Host string       // valid until the next request
}

// notes are recorded requests in order.
type notes struct {
	pending []pending
	files   []decidingFile
	text    []byte
	answers []answer
	visits  []visit
}

// roomy is the capacity in requests that notes retain after counting.
const roomy = 4 * bufferRequests

// add records a request.
func (n *notes) add(q *Request) {
	if n.pending == nil {
		n.pending = make([]pending, 0, bufferRequests)
		n.text = make([]byte, 0, bufferRequests*textBytes)
	}
	n.pending = append(n.pending, pending{})
	p := &n.pending[len(n.pending)-1]
	p.crawler = crawler{q.Token, q.Named, q.Class, q.Identity}
	p.Site, p.at = q.Site, q.At.UnixMilli()
	p.file, p.line, p.GroupLine = n.fileIndex(q), int32(min(q.Rule.Line, math.MaxInt32)), int32(min(q.GroupLine, math.MaxInt32))
	p.Verdict, p.Action = q.Verdict, q.Action
	p.Shared, p.WouldBlock, p.Against, p.Slowed = q.Shared, q.WouldBlock, q.Against, q.Slowed
	p.from = uint32(len(n.text))
	if q.Lasting {
		p.lasting = text.Truncate(q.UserAgent, maxAgent)
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

// fileIndex returns the index in n.files for a request. Consecutive requests mostly share the
// entry.
func (n *notes) fileIndex(q *Request) uint32 {
	by := decidingFile{version: q.Rule.Version, group: q.Rule.Group}
	if !q.Since.IsZero() {
		by.since = q.Since.UnixMilli()
	}
	if last := len(n.files) - 1; last < 0 || n.files[last] != by {
		n.files = append(n.files, by)
	}
	return uint32(len(n.files) - 1)
}

// keep stores at most most bytes of a string, and returns the stored length.
func (n *notes) keep(s string, most int) uint16 {
	s = text.Truncate(s, most)
	n.text = append(n.text, s...)
	return uint16(len(s))
}

// keepNetwork stores a network and returns its encoded length.
func (n *notes) keepNetwork(network netip.Prefix) uint16 {
	if !network.IsValid() {
		return 0
	}
	before := len(n.text)
	n.text, _ = network.AppendBinary(n.text) // never fails
	return uint16(len(n.text) - before)
}

// maxText is the maximum text of a request in bytes.
const maxText = maxMethod + maxAgent + maxTarget + maxToken + maxSiteName + maxRule + 17

// textOf returns the capacity in bytes for the strings of the given number of requests. A buffer
// due for counting has more room.
func textOf(requests int) int { return max(requests*requestBytes, bufferRequests*textBytes) }

// room reports whether another request fits within most requests.
func (n *notes) room(most int) bool {
	return len(n.pending) < most && len(n.answers) < most && len(n.visits) < most && len(n.text) <= textOf(most)-maxText
}

// all returns the requests with the strings from the client. The result is valid until the next
// iteration, and the strings until the buffer is reused.
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
				_ = q.Network.UnmarshalBinary([]byte(next(p.network))) // encoded by keepNetwork
			}
			if !yield(&q) {
				return
			}
		}
	}
}

// clear removes the requests and answers, and releases their memory.
func (n *notes) clear() {
	if cap(n.pending) > roomy || cap(n.answers) > roomy || cap(n.visits) > roomy {
		*n = notes{} // after a long delay
		return
	}
	clear(n.pending)
	clear(n.files)
	clear(n.answers)
	clear(n.visits)
	n.pending, n.files, n.text, n.answers, n.visits = n.pending[:0], n.files[:0], n.text[:0], n.answers[:0], n.visits[:0]
}

// buffer records requests until it is due for counting, and further until the ledger is free
// to count.
type buffer struct {
	mu sync.Mutex
	notes
	most int // maximum number of requests

	_ [64]byte // prevents false sharing
}

// ripe reports whether the buffer is due for counting.
func (b *buffer) ripe() bool { return !b.room(bufferRequests) }

// buffers are so many that one is always free, even if goroutines lose the processor while using
// the others.
type buffers struct {
	all []*buffer
	// number of preferred buffers, one for each processor; fewer buffers stay in the CPU caches
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

// lock locks and returns a buffer with room, or nil if no buffer is free. lock does not wait.
func (b *buffers) lock() *buffer {
	first := rand.IntN(b.first) // a sync.Pool locks after every garbage collection
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

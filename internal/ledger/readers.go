package ledger

import (
	"crypto/sha256"
	"fmt"
	"hash/fnv"
	"hash/maphash"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Reader is a crawler at one site, as far as it can be told from others: one
// that only claims its name is told by the network of its address, too.
type Reader struct {
	Site    policy.Key
	Crawler string       // a name that the registry or a policy spells, or a common one for all others
	Network netip.Prefix // the zero Prefix where the crawler's identity is verified
	// Invented says that only clients name the host of the site. However many
	// such hosts there are, they push out no reader of another.
	Invented bool
}

// Reading is what a crawler got for its last request for a robots.txt.
type Reading struct {
	At time.Time
	// Status is the HTTP status of the answer.
	Status int
	// Hash is the SHA-256 of the text, all zero where it was not seen in the
	// clear: after a 304, or if the answer was compressed.
	Hash [sha256.Size]byte
}

// ReaderParts is the number of parts of a Readers, which are bounded and kept
// in a storage apart. A crawler at a site is always in the same part.
const ReaderParts = 8

// Readers remembers when crawlers have read the robots.txt of a site. Of too
// many it forgets those that have not been seen for longest. It may be used by
// several goroutines at once.
type Readers struct {
	parts    [ReaderParts]readersPart
	invented readersPart
}

// readersPart is one of these. It is in shards, so that readings do not wait for each other.
type readersPart struct{ shards []readersShard }

type readersShard struct {
	mu    sync.Mutex
	most  int
	last  *simplelru.LRU[Reader, keptReading]
	noted uint64 // readings that were seen here
}

// keptReading is a Reading and where it was seen.
type keptReading struct {
	Reading
	elsewhere bool // by another instance, which keeps it
}

// NewReaders returns a Readers for so many in each part, and for so many at hosts that
// only clients name. Where these are many there is room for a quarter more of them, since
// chance does not spread them evenly.
func NewReaders(inPart, invented int) *Readers {
	r := new(Readers)
	for i := range r.parts {
		r.parts[i].init(inPart)
	}
	r.invented.init(invented)
	return r
}

// maxReaderShards are of a part that has at least minInShard readers in each.
const (
	maxReaderShards = 16
	minInShard      = 256
)

func (p *readersPart) init(most int) {
	p.shards = make([]readersShard, min(max(most/minInShard, 1), maxReaderShards))
	for i := range p.shards {
		s := &p.shards[i]
		if s.most = max(most, 1); len(p.shards) > 1 {
			s.most = most / len(p.shards) * 5 / 4
		}
		s.last, _ = simplelru.NewLRU[Reader, keptReading](s.most, nil) // fails for sizes below 1 only
	}
}

var readersSeed = maphash.MakeSeed()

// shard returns where a reader is kept.
func (r *Readers) shard(who Reader) *readersShard {
	part := &r.invented
	if !who.Invented {
		part = &r.parts[partOf(who)]
	}
	return &part.shards[maphash.Comparable(readersSeed, who)%uint64(len(part.shards))]
}

// partOf returns the part that a reader is in, the same at all instances.
func partOf(who Reader) int {
	sum := fnv.New32a()
	fmt.Fprintf(sum, "%s %q", who.Site.Quoted(), who.Crawler)
	return int(sum.Sum32() % ReaderParts)
}

// Read notes that a crawler has read a robots.txt.
func (r *Readers) Read(who Reader, what Reading) {
	s := r.shard(who)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last.Add(who, keptReading{Reading: what})
	s.noted++
}

// Last returns what a crawler has read last.
func (r *Readers) Last(who Reader) (Reading, bool) {
	s := r.shard(who)
	s.mu.Lock()
	defer s.mu.Unlock()
	last, ok := s.last.Get(who)
	return last.Reading, ok
}

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

// Reader identifies a crawler at one site. The network distinguishes clients whose identity
// is not verified.
type Reader struct {
	Site    policy.Key
	Crawler string       // a name of the registry or policy, or a common name for all others
	Network netip.Prefix // zero if the identity is verified
	// Invented is true if no site of the configuration names the host. Such readers have a
	// cache of their own and never evict others.
	Invented bool
}

// Reading is a crawler's last fetch of a robots.txt.
type Reading struct {
	At time.Time
	// Status is the HTTP status of the answer.
	Status int
	// Hash is the SHA-256 of the body. It is zero after a 304 or for a compressed body.
	Hash [sha256.Size]byte
}

// ReaderParts is the number of independent parts of a Readers. Each is stored separately. A
// crawler at a site always belongs to the same part.
const ReaderParts = 8

// Readers remembers the last robots fetch of each crawler and site. It evicts the least
// recently used entries. It is safe for concurrent use.
type Readers struct {
	parts    [ReaderParts]readersPart
	invented readersPart
}

// readersPart is divided into shards to reduce contention.
type readersPart struct{ shards []readersShard }

type readersShard struct {
	mu    sync.Mutex
	most  int
	last  *simplelru.LRU[Reader, keptReading]
	noted uint64 // number of fetches seen by this instance
}

// keptReading is a Reading with its origin.
type keptReading struct {
	Reading
	elsewhere bool // seen and stored by another instance
}

// NewReaders returns a Readers with the given capacity of each part, and the given capacity
// for hosts that only clients name. Sharded parts have 25 % more room, since hashing does not
// fill shards evenly.
func NewReaders(inPart, invented int) *Readers {
	r := new(Readers)
	for i := range r.parts {
		r.parts[i].init(inPart)
	}
	r.invented.init(invented)
	return r
}

// Bounds of shards a part, and of readers a shard.
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

// shard returns the shard of a reader.
func (r *Readers) shard(who Reader) *readersShard {
	part := &r.invented
	if !who.Invented {
		part = &r.parts[partOf(who)]
	}
	return &part.shards[maphash.Comparable(readersSeed, who)%uint64(len(part.shards))]
}

// partOf returns the part of a reader. The result is the same on all instances.
func partOf(who Reader) int {
	sum := fnv.New32a()
	fmt.Fprintf(sum, "%s %q", who.Site.Quoted(), who.Crawler)
	return int(sum.Sum32() % ReaderParts)
}

// Read records a robots fetch.
func (r *Readers) Read(who Reader, what Reading) {
	s := r.shard(who)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last.Add(who, keptReading{Reading: what})
	s.noted++
}

// Last returns the last robots fetch of a crawler.
func (r *Readers) Last(who Reader) (Reading, bool) {
	s := r.shard(who)
	s.mu.Lock()
	defer s.mu.Unlock()
	last, ok := s.last.Get(who)
	return last.Reading, ok
}

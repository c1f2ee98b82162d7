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

// RobotsFetcher identifies a crawler at one site. The network distinguishes clients whose identity
// is not verified.
type RobotsFetcher struct {
	Site    policy.Key
	Crawler string       // a name of the registry or policy, or a common name for all others
	Network netip.Prefix // zero if the identity is verified
	// Invented is true if no site of the configuration names the host. Such readers have a
	// cache of their own and never evict others.
	Invented bool
}

// RobotsFetch is a crawler's last fetch of a robots.txt.
type RobotsFetch struct {
	At time.Time
	// Status is the HTTP status of the answer.
	Status int
	// Hash is the SHA-256 of the body. It is zero after a 304 or for a compressed body.
	Hash [sha256.Size]byte
}

// RobotsFetchParts is the number of independent parts of RobotsFetches. Each is stored separately. A
// crawler at a site always belongs to the same part.
const RobotsFetchParts = 8

// RobotsFetches remembers the last robots fetch of each crawler and site. It evicts the least
// recently used entries. It is safe for concurrent use.
type RobotsFetches struct {
	parts    [RobotsFetchParts]fetchPart
	invented fetchPart
}

// fetchPart is divided into shards to reduce contention.
type fetchPart struct{ shards []fetchShard }

type fetchShard struct {
	mu    sync.Mutex
	most  int
	last  *simplelru.LRU[RobotsFetcher, storedFetch]
	noted uint64 // number of fetches seen by this instance
}

// storedFetch is a RobotsFetch with its origin.
type storedFetch struct {
	RobotsFetch
	elsewhere bool // seen and stored by another instance
}

// NewRobotsFetches returns a RobotsFetches with the given capacity of each part, and the given capacity
// for hosts that only clients name. Sharded parts have 25 % more room, since hashing does not
// fill shards evenly.
func NewRobotsFetches(inPart, invented int) *RobotsFetches {
	r := new(RobotsFetches)
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

func (p *fetchPart) init(most int) {
	p.shards = make([]fetchShard, min(max(most/minInShard, 1), maxReaderShards))
	for i := range p.shards {
		s := &p.shards[i]
		if s.most = max(most, 1); len(p.shards) > 1 {
			s.most = most / len(p.shards) * 5 / 4
		}
		s.last, _ = simplelru.NewLRU[RobotsFetcher, storedFetch](s.most, nil) // fails for sizes below 1 only
	}
}

var readersSeed = maphash.MakeSeed()

// shard returns the shard of a reader.
func (r *RobotsFetches) shard(fetcher RobotsFetcher) *fetchShard {
	part := &r.invented
	if !fetcher.Invented {
		part = &r.parts[partIndex(fetcher)]
	}
	return &part.shards[maphash.Comparable(readersSeed, fetcher)%uint64(len(part.shards))]
}

// partIndex returns the part of a crawler. The result is the same on all instances.
func partIndex(fetcher RobotsFetcher) int {
	sum := fnv.New32a()
	fmt.Fprintf(sum, "%s %q", fetcher.Site.UniqueString(), fetcher.Crawler)
	return int(sum.Sum32() % RobotsFetchParts)
}

// Record records a robots fetch.
func (r *RobotsFetches) Record(fetcher RobotsFetcher, fetch RobotsFetch) {
	s := r.shard(fetcher)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last.Add(fetcher, storedFetch{RobotsFetch: fetch})
	s.noted++
}

// Last returns the last robots fetch of a crawler.
func (r *RobotsFetches) Last(fetcher RobotsFetcher) (RobotsFetch, bool) {
	s := r.shard(fetcher)
	s.mu.Lock()
	defer s.mu.Unlock()
	last, ok := s.last.Get(fetcher)
	return last.RobotsFetch, ok
}

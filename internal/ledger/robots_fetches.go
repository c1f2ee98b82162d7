package ledger

import (
	"fmt"
	"hash/fnv"
	"net/netip"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// RobotsFetcher identifies a crawler at a site. The network distinguishes unverified clients.
type RobotsFetcher struct {
	Site    policy.Key   `json:"site"`
	Crawler string       `json:"crawler"`          // a name of the registry or policy, or a common name for all others
	Network netip.Prefix `json:"network,omitzero"` // zero if the identity is verified
	// UnknownHost is true if no site of the configuration names the host. Fetchers of unknown hosts
	// have a separate cache, and never evict fetchers of configured hosts.
	UnknownHost bool `json:"-"`
}

// RobotsFetch is a crawler's request for robots.txt with the response.
type RobotsFetch struct {
	At      int64   `json:"at"` // in Unix milliseconds
	Status  int     `json:"status"`
	Version Version `json:"version"` // zero after a 304, or if the body was not seen
}

// RobotsFetchParts is the number of independent parts of RobotsFetches. Each is stored separately. A
// crawler at a site always belongs to the same part.
const RobotsFetchParts = 8

// RobotsFetches remembers the last robots fetch of each crawler and site. The least recently used
// entries are evicted. RobotsFetches is safe for concurrent use.
type RobotsFetches struct {
	parts       [RobotsFetchParts]fetchPart
	unknownHost fetchPart
}

type fetchPart struct {
	mu       sync.Mutex
	most     int
	last     *simplelru.LRU[RobotsFetcher, storedFetch]
	revision uint64 // number of fetches seen by this instance
}

// storedFetch is a RobotsFetch with its origin.
type storedFetch struct {
	RobotsFetch
	elsewhere bool // seen and stored by another instance
}

// NewRobotsFetches returns a RobotsFetches with the given capacities of each part, and for hosts
// named only by clients.
func NewRobotsFetches(inPart, unknownHost int) *RobotsFetches {
	r := new(RobotsFetches)
	for i := range r.parts {
		r.parts[i].init(inPart)
	}
	r.unknownHost.init(unknownHost)
	return r
}

func (p *fetchPart) init(most int) {
	p.most = max(most, 1)
	p.last, _ = simplelru.NewLRU[RobotsFetcher, storedFetch](p.most, nil) // fails for sizes below 1 only
}

// part returns the part of a crawler.
func (r *RobotsFetches) part(fetcher RobotsFetcher) *fetchPart {
	if fetcher.UnknownHost {
		return &r.unknownHost
	}
	return &r.parts[partIndex(fetcher)]
}

// partIndex returns the part of a crawler. The result is the same on all instances.
func partIndex(fetcher RobotsFetcher) int {
	sum := fnv.New32a()
	fmt.Fprintf(sum, "%s %q", fetcher.Site.UniqueString(), fetcher.Crawler)
	return int(sum.Sum32() % RobotsFetchParts)
}

// Record records a robots fetch.
func (r *RobotsFetches) Record(fetcher RobotsFetcher, fetch RobotsFetch) {
	p := r.part(fetcher)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last.Add(fetcher, storedFetch{RobotsFetch: fetch})
	p.revision++
}

// Last returns the last robots fetch of a crawler.
func (r *RobotsFetches) Last(fetcher RobotsFetcher) (RobotsFetch, bool) {
	p := r.part(fetcher)
	p.mu.Lock()
	defer p.mu.Unlock()
	last, ok := p.last.Get(fetcher)
	return last.RobotsFetch, ok
}

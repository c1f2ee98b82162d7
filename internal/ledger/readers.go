package ledger

import (
	"crypto/sha256"
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
}

// Network returns the network that stands for an address: its /24, or /48 for
// IPv6. It returns the zero Prefix for what is no address.
func Network(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap().WithZone("")
	bits := 24
	if addr.Is6() {
		bits = 48
	}
	network, err := addr.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return network
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

// Readers remembers when crawlers have read the robots.txt of a site. Of too
// many it forgets those that have not been seen for longest. It may be used by
// several goroutines at once.
type Readers struct {
	mu   sync.Mutex
	last *simplelru.LRU[Reader, Reading]
}

// NewReaders returns a Readers for at most so many.
func NewReaders(most int) *Readers {
	last, _ := simplelru.NewLRU[Reader, Reading](max(most, 1), nil) // fails for sizes below 1 only
	return &Readers{last: last}
}

// Read notes that a crawler has read a robots.txt.
func (r *Readers) Read(who Reader, what Reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last.Add(who, what)
}

// Last returns what a crawler has read last.
func (r *Readers) Last(who Reader) (Reading, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last.Get(who)
}

package readers

import (
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"
)

// passes are the requests of each network that pass in doubt at hosts that nobody has named:
// a client could else have such a host forgotten, with what it has let pass. The zero passes
// have none.
type passes struct {
	mu       sync.Mutex
	networks *simplelru.LRU[netip.Prefix, *rate.Limiter]
}

// may reports whether one more may pass.
func (p *passes) may(network netip.Prefix, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.networks == nil {
		p.networks, _ = simplelru.NewLRU[netip.Prefix, *rate.Limiter](maxServedNetworks, nil) // fails for sizes below 1 only
	}
	limiter, ok := p.networks.Get(network)
	if !ok {
		limiter = rate.NewLimiter(rate.Every(time.Hour/maxPendingInvented), maxPendingInvented)
		p.networks.Add(network, limiter)
	}
	return limiter.AllowN(now, 1)
}

// MayPass reports whether a request may pass although it is not known what its
// crawler was served.
func (s *SiteTexts) MayPass(network netip.Prefix, now time.Time) bool {
	s.mu.Lock()
	ok := s.network(network).pending.AllowN(now, 1)
	s.mu.Unlock()
	return ok && (s.passes == nil || s.passes.may(network, now))
}

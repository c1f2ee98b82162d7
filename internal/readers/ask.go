package readers

import (
	"crypto/sha256"
	"net/netip"
	"time"

	"golang.org/x/time/rate"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// How often sites are asked, and for how many answers requests pass meanwhile.
const (
	// askAgain is how soon a site is asked again as a client for a text that it
	// did not serve to it.
	askAgain = 10 * time.Second
	// MaxAsks is how often it is asked in a row: upstreams may take turns.
	MaxAsks = 3
	// askRate is how often a site is asked as clients of one network after
	// askBurst at once.
	askRate, askBurst = 10 * time.Second, 10
	// allRate and allBurst are the same for the clients of all networks: none can
	// use up what others need.
	allRate, allBurst = 5 * time.Second, 40
	// maxAsking bounds the sites that are asked at the same time, for those that
	// the configuration names and for others.
	maxAskingNamed, maxAskingInvented = 32, 8
	// maxPending bounds the requests of a network to a site in an hour that pass
	// since it is not known yet what their crawler was served.
	maxPending = 8
	// maxPendingInvented bounds those to all hosts that nobody has named together, of which
	// the least recently used are forgotten.
	maxPendingInvented = 128
)

// servedAsk is how a site was asked as a client.
type servedAsk struct {
	asking chan struct{} // closed when that is done; nil if it is not going on
	asked  time.Time
	vain   [sha256.Size]byte // the text that it did not serve
}

// servedNetwork is what clients of one network have asked for.
type servedNetwork struct {
	asks, pending *rate.Limiter
}

// Begin reports whether another site may be asked now; then [Texts.End] is to be
// called when it was.
func (s *Texts) Begin(segment policy.Segment) bool {
	most := int32(maxAskingNamed)
	if segment == policy.Invented {
		most = maxAskingInvented
	}
	if s.asking[segment].Add(1) > most {
		s.asking[segment].Add(-1)
		return false
	}
	return true
}

// End takes back a [Texts.Begin] that was true.
func (s *Texts) End(segment policy.Segment) { s.asking[segment].Add(-1) }

// network returns what the clients of a network have asked for. s.mu must be held.
func (s *SiteTexts) network(network netip.Prefix) *servedNetwork {
	if known, ok := s.networks.Get(network); ok {
		return known
	}
	made := &servedNetwork{
		asks:    rate.NewLimiter(rate.Every(askRate), askBurst),
		pending: rate.NewLimiter(rate.Every(time.Hour/maxPending), maxPending),
	}
	s.networks.Add(network, made)
	return made
}

// Ask lets ask be called, which asks the site for a text as a client, in a
// goroutine that ends soon after it returns, unless that is going on already or
// begin says that it may not. It returns a channel that is closed then, and whether
// there is any reason to wait: nil and false after it was asked for that text in
// vain, nil and true if it may not be asked yet.
func (s *SiteTexts) Ask(client Client, network netip.Prefix, hash [sha256.Size]byte, now time.Time, begin func() bool, ask func()) (done <-chan struct{}, pending bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.clients.Get(client)
	switch {
	case ok && known.asking != nil:
		return known.asking, true
	case ok && known.vain == hash && now.Sub(known.asked) < askAgain:
		return nil, false
	case !s.network(network).asks.AllowN(now, 1) || !s.asks.AllowN(now, 1) || !begin():
		return nil, true
	}
	asking := make(chan struct{})
	known = &servedAsk{asking: asking}
	s.clients.Add(client, known)
	go func() {
		ask()
		s.mu.Lock()
		known.asking, known.asked, known.vain = nil, now, hash
		s.mu.Unlock()
		close(asking)
	}()
	return asking, true
}

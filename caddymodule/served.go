package caddymodule

import (
	"crypto/sha256"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Bounds of what is remembered of the texts that crawlers are served: sites that
// the configuration names and hosts that only clients name, and texts, crawlers
// and networks of each.
const (
	maxServedNamed    = 2048
	maxServedInvented = 64
	maxServedTexts    = 16
	maxServedClients  = 256
	maxServedNetworks = 256
	maxServedBytes    = 64 << 20 // estimated memory of all texts
)

const (
	// askAgain is how soon a site is asked again as a client for a text that it
	// did not serve to it.
	askAgain = 10 * time.Second
	// maxAsks is how often it is asked in a row: upstreams may take turns.
	maxAsks = 3
	// askRate is how often a site is asked as clients of one network after
	// askBurst at once, and allRate and allBurst the same for all of them: no
	// network can use up what others need.
	askRate, askBurst = 10 * time.Second, 10
	allRate, allBurst = 5 * time.Second, 40
	// maxAsking bounds the sites that are asked at the same time, for those that
	// the configuration names and for others.
	maxAskingNamed, maxAskingInvented = 32, 8
	// maxPending bounds the requests of a network to a site in an hour that pass
	// since it is not known yet what their crawler was served.
	maxPending = 8
)

// served remembers which texts sites serve to crawlers beside the one that the
// guard reads: where two upstreams have different files during a release, or an
// origin answers by User-Agent. A crawler is held to the text that it was
// served, once the guard was served the same for its User-Agent: else clients
// could earn a milder text by a header of theirs. The zero served is empty and
// may be used by several goroutines at once.
type served struct {
	mu     sync.Mutex
	sites  [2]*simplelru.LRU[policy.Key, *servedSite]
	bytes  int             // estimated memory of all texts
	asking [2]atomic.Int32 // sites that are being asked
}

// servedSite is what is remembered of one site.
type servedSite struct {
	mu       sync.Mutex
	gone     bool          // it is not remembered any more
	texts    []*servedText // the one confirmed last at the end
	clients  *simplelru.LRU[servedClient, *servedAsk]
	networks *simplelru.LRU[netip.Prefix, *servedNetwork]
	asks     *rate.Limiter
	witness  witness // who was served the file last
	refused  bool    // the guard is refused what that client was served
}

// servedClient is who is served a text: an operator whose crawlers are verified,
// or whoever sends a User-Agent, by its hash.
type servedClient struct {
	operator  string
	userAgent [sha256.Size]byte
}

// servedText is a text and since when it is known to be served to whom.
type servedText struct {
	version   *policy.Version
	by        netip.Prefix // the network for which it was asked, the zero Prefix for an operator
	confirmed map[servedClient]time.Time
}

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

// site returns what is remembered of a site, making it if there is nothing.
func (s *served) site(of site) *servedSite {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, most := s.sites[of.segment], maxServedNamed
	if of.segment == policy.Invented {
		most = maxServedInvented
	}
	if known == nil {
		known, _ = simplelru.NewLRU[policy.Key, *servedSite](most, nil) // fails for sizes below 1 only
		s.sites[of.segment] = known
	}
	if found, ok := known.Get(of.own); ok {
		return found
	}
	clients, _ := simplelru.NewLRU[servedClient, *servedAsk](maxServedClients, nil)
	networks, _ := simplelru.NewLRU[netip.Prefix, *servedNetwork](maxServedNetworks, nil)
	made := &servedSite{clients: clients, networks: networks, asks: rate.NewLimiter(rate.Every(allRate), allBurst)}
	if known.Len() == most {
		s.forget(known)
	}
	known.Add(of.own, made)
	return made
}

// forget drops the site that was asked about least lately. s.mu must be held.
func (s *served) forget(sites *simplelru.LRU[policy.Key, *servedSite]) bool {
	_, site, ok := sites.RemoveOldest()
	if !ok {
		return false
	}
	site.mu.Lock()
	defer site.mu.Unlock()
	site.gone = true
	for _, text := range site.texts {
		s.bytes -= text.version.Robots.Size()
	}
	return true
}

// confirm notes that a client is served a text, if the answer holds one.
func (s *served) confirm(of site, client servedClient, by netip.Prefix, a policy.Answer, now time.Time) {
	site := s.site(of)
	if hash, ok := policy.HashOf(a); !ok || site.again(client, hash, now) {
		return
	}
	version := policy.VersionOf(a, now)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes += site.add(client, by, version, now)
	for _, sites := range []*simplelru.LRU[policy.Key, *servedSite]{s.sites[policy.Invented], s.sites[policy.Named]} {
		for s.bytes > maxServedBytes && sites != nil && s.forget(sites) {
		}
	}
}

// begin reports whether another site may be asked now; end takes that back.
func (s *served) begin(segment policy.Segment) bool {
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

func (s *served) end(segment policy.Segment) { s.asking[segment].Add(-1) }

// again notes that a client is served a text that is known, and reports whether
// it is.
func (s *servedSite) again(client servedClient, hash [sha256.Size]byte, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.texts, func(known *servedText) bool { return known.version.Hash == hash })
	if i < 0 {
		return false
	}
	known := s.texts[i]
	if len(known.confirmed) >= maxServedClients {
		known.dropOldest()
	}
	known.confirmed[client] = now
	s.texts = append(slices.Delete(s.texts, i, i+1), known)
	return true
}

// dropOldest forgets who was confirmed first, but no operator while there is
// anybody else: few of these are, and nobody can invent one.
func (t *servedText) dropOldest() {
	var oldest servedClient
	var at time.Time
	for client, confirmed := range t.confirmed {
		if at.IsZero() || (client.operator == "") == (oldest.operator == "") && confirmed.Before(at) || client.operator == "" && oldest.operator != "" {
			oldest, at = client, confirmed
		}
	}
	delete(t.confirmed, oldest)
}

// add keeps another text, and returns by how many bytes the texts have grown.
func (s *servedSite) add(client servedClient, by netip.Prefix, version *policy.Version, now time.Time) (grown int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return 0
	}
	if len(s.texts) == maxServedTexts {
		i := s.dispensable()
		grown -= s.texts[i].version.Robots.Size()
		s.texts = slices.Delete(s.texts, i, i+1)
	}
	s.texts = append(s.texts, &servedText{version, by, map[servedClient]time.Time{client: now}})
	return grown + version.Robots.Size()
}

// dispensable returns the oldest text of the network that has the most of them: no
// network pushes out what others are served, and none an operator's. s.mu must be
// held.
func (s *servedSite) dispensable() int {
	texts := make(map[netip.Prefix]int)
	for _, known := range s.texts {
		texts[known.by]++
	}
	found, most := 0, 0
	for i, known := range s.texts {
		if n := texts[known.by]; known.by.IsValid() && n > most {
			found, most = i, n
		}
	}
	return found
}

// text returns the text of a hash if a client was confirmed to be served it less
// than a day ago, else nil.
func (s *servedSite) text(client servedClient, hash [sha256.Size]byte, now time.Time) *policy.Version {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, known := range s.texts {
		if at, ok := known.confirmed[client]; ok && known.version.Hash == hash && now.Sub(at) < policy.MaxAge {
			return known.version
		}
	}
	return nil
}

// tagged returns the text that has these validators, nil if none has.
func (s *servedSite) tagged(a robotsAnswer) *policy.Version {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, known := range s.texts {
		if a.validates(known.version) {
			return known.version
		}
	}
	return nil
}

// network returns what the clients of a network have asked for. s.mu must be held.
func (s *servedSite) network(network netip.Prefix) *servedNetwork {
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

// mayPass reports whether a request may pass although it is not known what its
// crawler was served.
func (s *servedSite) mayPass(network netip.Prefix, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.network(network).pending.AllowN(now, 1)
}

// ask lets ask be called, which asks the site for a text as a client, in a
// goroutine that ends soon after it returns, unless that is going on already or
// begin says that it may not. It returns a channel that is closed then, and whether
// there is any reason to wait: nil and false after it was asked for that text in
// vain, nil and true if it may not be asked yet.
func (s *servedSite) ask(client servedClient, network netip.Prefix, hash [sha256.Size]byte, now time.Time, begin func() bool, ask func()) (done <-chan struct{}, pending bool) {
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

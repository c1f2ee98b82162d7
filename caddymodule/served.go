package caddymodule

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Bounds of what is remembered of the texts that crawlers are served: sites that
// the configuration names and hosts that only clients name, and texts and
// crawlers of each.
const (
	maxServedNamed    = 2048
	maxServedInvented = 64
	maxServedTexts    = 8
	maxServedCrawlers = 64
	maxServedBytes    = 64 << 20 // estimated memory of all texts
)

const (
	// askAgain is how soon a site is asked again on behalf of a crawler to which
	// it did not serve the text in question.
	askAgain = 10 * time.Second
	// maxAsks is how often it is asked in a row: upstreams may take turns.
	maxAsks = 3
	// askRate is how often a site is asked on behalf of crawlers, whoever they
	// are, after askBurst at once; and firstRate is what crawlers have beside that
	// for which it was never asked.
	askRate    = 10 * time.Second
	askBurst   = 6
	firstRate  = time.Minute
	firstBurst = 20
	// maxPending bounds the requests of a site in an hour that pass since it is
	// not known yet what their crawler was served.
	maxPending = 8
)

// served remembers which texts sites serve to crawlers beside the one that the
// guard reads: where two upstreams have different files during a release, or an
// origin answers by User-Agent. A crawler is held to the text that it was
// served, once the guard was served the same for its User-Agent: else clients
// could earn a milder text by a header of theirs. The zero served is empty and
// may be used by several goroutines at once.
type served struct {
	mu    sync.Mutex
	sites [2]*simplelru.LRU[policy.Key, *servedSite]
	bytes int // estimated memory of all texts
}

// servedSite is what is remembered of one site.
type servedSite struct {
	mu       sync.Mutex
	texts    []*servedText // the one confirmed last at the end
	gone     bool          // it is not remembered any more
	crawlers *simplelru.LRU[string, *servedCrawler]
	asks     *rate.Limiter
	first    *rate.Limiter // for crawlers for which it was never asked
	pending  *rate.Limiter
	witness  witness // who was served the file last
	refused  bool    // the guard is refused what that client was served
}

// servedText is a text and to whom it is known to be served.
type servedText struct {
	version   *policy.Version
	confirmed map[string]time.Time // by crawler
}

// servedCrawler is whether a site was asked on behalf of a crawler.
type servedCrawler struct {
	asking chan struct{} // closed when that is done; nil if it is not
	asked  time.Time
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
	crawlers, _ := simplelru.NewLRU[string, *servedCrawler](maxServedCrawlers, nil)
	made := &servedSite{
		crawlers: crawlers,
		asks:     rate.NewLimiter(rate.Every(askRate), askBurst),
		first:    rate.NewLimiter(rate.Every(firstRate), firstBurst),
		pending:  rate.NewLimiter(rate.Every(time.Hour/maxPending), maxPending),
	}
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

// confirm notes that a crawler is served a text, if the answer holds one.
func (s *served) confirm(of site, crawler string, a policy.Answer, now time.Time) {
	version := policy.VersionOf(a, now)
	if version == nil {
		return
	}
	site := s.site(of)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes += site.confirm(crawler, version, now)
	for _, sites := range []*simplelru.LRU[policy.Key, *servedSite]{s.sites[policy.Invented], s.sites[policy.Named]} {
		for s.bytes > maxServedBytes && sites != nil && s.forget(sites) {
		}
	}
}

// confirm notes that a crawler is served a text, and returns by how many bytes
// the texts have grown.
func (s *servedSite) confirm(crawler string, version *policy.Version, now time.Time) (grown int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return 0
	}
	for i, known := range s.texts {
		if known.version.Hash == version.Hash {
			if len(known.confirmed) >= maxServedCrawlers {
				clear(known.confirmed)
			}
			known.confirmed[crawler] = now
			s.texts = append(append(s.texts[:i:i], s.texts[i+1:]...), known)
			return 0
		}
	}
	if len(s.texts) == maxServedTexts {
		grown -= s.texts[0].version.Robots.Size()
		s.texts = s.texts[1:]
	}
	s.texts = append(s.texts, &servedText{version, map[string]time.Time{crawler: now}})
	return grown + version.Robots.Size()
}

// text returns the text of a hash if a crawler was confirmed to be served it less
// than a day ago, else nil.
func (s *servedSite) text(crawler string, hash [sha256.Size]byte, now time.Time) *policy.Version {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, known := range s.texts {
		if at, ok := known.confirmed[crawler]; ok && known.version.Hash == hash && now.Sub(at) < policy.MaxAge {
			return known.version
		}
	}
	return nil
}

// ask lets ask be called on behalf of a crawler, in a goroutine that ends soon
// after it returns, unless that is going on already. It returns a channel that is
// closed then, and whether there is any reason to wait: nil and false after the
// site was asked in vain, nil and true if it may not be asked yet.
func (s *servedSite) ask(crawler string, now time.Time, ask func()) (done <-chan struct{}, pending bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.crawlers.Get(crawler)
	switch {
	case ok && known.asking != nil:
		return known.asking, true
	case ok && now.Sub(known.asked) < askAgain:
		return nil, false
	case !s.asks.AllowN(now, 1) && (ok || !s.first.AllowN(now, 1)):
		return nil, true
	}
	asking := make(chan struct{})
	known = &servedCrawler{asking: asking}
	s.crawlers.Add(crawler, known)
	go func() {
		ask()
		s.mu.Lock()
		known.asking, known.asked = nil, now
		s.mu.Unlock()
		close(asking)
	}()
	return asking, true
}

package readers

import (
	"crypto/sha256"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"

	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// SiteTexts is what is remembered of one site.
type SiteTexts struct {
	used    atomic.Uint64                  // which use of all sites was its last one
	witness atomic.Pointer[origin.Witness] // who was served the file last, nil for nobody
	refused atomic.Bool                    // the guard is refused what that client was served

	mu       sync.Mutex    // guards all below
	gone     bool          // it is not remembered any more
	texts    []*servedText // the one confirmed last at the end
	clients  *simplelru.LRU[Client, *servedAsk]
	networks *simplelru.LRU[netip.Prefix, *servedNetwork]
	asks     *rate.Limiter
	passes   *passes // of all hosts that nobody has named, nil for one that is
	led      []led   // where clients were redirected to, the latest last
}

// Client is who is served a text: an operator whose crawlers are verified,
// or whoever sends a User-Agent, by its hash.
type Client struct {
	Operator  string            // "" for one that is not verified
	UserAgent [sha256.Size]byte // zero for one that is
}

// servedText is a text and since when it is known to be served to whom.
type servedText struct {
	version   *policy.Version
	by        netip.Prefix // the network for which it was asked, the zero Prefix for an operator
	confirmed map[Client]time.Time
}

// again remembers that a client is served a text that is known, and reports whether
// it is.
func (s *SiteTexts) again(client Client, hash [sha256.Size]byte, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.confirm(client, hash, now)
}

// confirm is again. s.mu must be held.
func (s *SiteTexts) confirm(client Client, hash [sha256.Size]byte, now time.Time) bool {
	i := slices.IndexFunc(s.texts, func(known *servedText) bool { return known.version.Hash == hash })
	if i < 0 {
		return false
	}
	known := s.texts[i]
	if _, ok := known.confirmed[client]; !ok && len(known.confirmed) == maxServedClients {
		known.dropOldest()
	}
	known.confirmed[client] = now
	s.texts = append(slices.Delete(s.texts, i, i+1), known)
	return true
}

// dropOldest forgets who was confirmed first, but no operator while there is
// anybody else: few of these are, and nobody can invent one.
func (t *servedText) dropOldest() {
	var oldest Client
	var at time.Time
	for client, confirmed := range t.confirmed {
		if at.IsZero() || (client.Operator == "") == (oldest.Operator == "") && confirmed.Before(at) || client.Operator == "" && oldest.Operator != "" {
			oldest, at = client, confirmed
		}
	}
	delete(t.confirmed, oldest)
}

// add keeps another text, and returns by how many bytes the texts have grown.
func (s *SiteTexts) add(client Client, by netip.Prefix, version *policy.Version, now time.Time) (grown int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone || s.confirm(client, version.Hash, now) { // as others were faster
		return 0
	}
	if len(s.texts) == maxServedTexts {
		i := s.dispensable()
		grown -= s.texts[i].version.Robots.Size()
		s.texts = slices.Delete(s.texts, i, i+1)
	}
	s.texts = append(s.texts, &servedText{version, by, map[Client]time.Time{client: now}})
	return grown + version.Robots.Size()
}

// dispensable returns the oldest text of the network that has the most of them: no
// network pushes out what others are served, and none an operator's. s.mu must be
// held.
func (s *SiteTexts) dispensable() int {
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

// Text returns the text of a hash if a client was confirmed to be served it less
// than a day ago, else nil.
func (s *SiteTexts) Text(client Client, hash [sha256.Size]byte, now time.Time) *policy.Version {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, known := range s.texts {
		if at, ok := known.confirmed[client]; ok && known.version.Hash == hash && now.Sub(at) < policy.MaxAge {
			return known.version
		}
	}
	return nil
}

// IsLast reports whether a text is the one that a client was confirmed to be served last,
// less than a day ago, and when.
func (s *SiteTexts) IsLast(client Client, hash [sha256.Size]byte, now time.Time) (at time.Time, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var other time.Time
	for _, known := range s.texts {
		confirmed, is := known.confirmed[client]
		switch {
		case !is:
		case known.version.Hash == hash:
			at = confirmed
		case confirmed.After(other):
			other = confirmed
		}
	}
	return at, !at.IsZero() && now.Sub(at) < policy.MaxAge && !other.After(at)
}

// Find returns the text for which has is true, nil if there is none.
func (s *SiteTexts) Find(has func(*policy.Version) bool) *policy.Version {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, known := range s.texts {
		if has(known.version) {
			return known.version
		}
	}
	return nil
}

package request

import (
	"net/http"
	"strings"
	"sync/atomic"
)

// KeptSite is a site that the configuration names. It lasts as long as its configuration.
type KeptSite struct {
	Site
	guards atomic.Int32 // that keep something of it, or began to
}

// Kept says that one more guard keeps something of the site.
func (s *KeptSite) Kept() { s.guards.Add(1) }

// IsShared reports whether several guards keep something of the site.
func (s *KeptSite) IsShared() bool { return s.guards.Load() > 1 }

// namedHost is a host that the configuration names, with its sites by http and by https
// once they were asked for.
type namedHost [2]atomic.Pointer[KeptSite]

// Site returns the site of a request for a host just as the configuration names it: that
// of its Key, which is made once. It is nil for all others, of which there may be any number.
func (h *Hosts) Site(r *http.Request) *KeptSite {
	host := h.exact[r.Host]
	if host == nil {
		return nil
	}
	secure, ok := SchemeSent(r)
	if !ok {
		return nil
	}
	known := &host[0]
	if secure {
		known = &host[1]
	}
	site := known.Load()
	if site == nil {
		if strings.Contains(r.Host, ":") {
			return nil // an address of IPv6 without its brackets, of which the end may be a port
		}
		site = &KeptSite{Site: NewSite(h.Key(r))}
		if !known.CompareAndSwap(nil, site) {
			site = known.Load()
		}
	}
	return site
}

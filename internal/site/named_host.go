package site

import (
	"net/http"
	"strings"
	"sync/atomic"
)

// namedHost is a configured host with its http and https sites, which are created when they
// are first used.
type namedHost [2]atomic.Pointer[Site]

// Site returns the site of a request whose host is exactly as configured. It has the Key of
// the request and is created once. Site returns nil for all other hosts, whose number has no
// bound.
func (h *Hosts) Site(r *http.Request) *Site {
	host := h.exactHosts[r.Host]
	if host == nil {
		return nil
	}
	secure, ok := ClientScheme(r)
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
			return nil // an IPv6 address without brackets, whose end may be a port
		}
		site = new(NewSite(h.Key(r)))
		if !known.CompareAndSwap(nil, site) {
			site = known.Load()
		}
	}
	return site
}

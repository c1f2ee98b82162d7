package site

import (
	"net/http"
	"strings"
	"sync/atomic"
)

// namedHost has the http site and the https site of a configured host. Each is nil until its first
// request.
type namedHost [2]atomic.Pointer[Site]

// CachedSite returns the site of a request whose Host is exactly a configured host. The first
// request creates the site, with the key of [Hosts.KeyForRequest]. CachedSite returns nil for all
// other requests, because the number of their hosts has no bound.
func (h *Hosts) CachedSite(r *http.Request) *Site {
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
			return nil // The host is an IPv6 address without brackets. Its end may be a port.
		}
		site = new(NewSite(h.KeyForRequest(r)))
		if !known.CompareAndSwap(nil, site) {
			site = known.Load()
		}
	}
	return site
}

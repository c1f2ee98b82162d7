package guard

import (
	"hash/maphash"
	"net/http"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/request"
)

// siteTable finds what is kept of a site by a hash of its host, in one line of the
// processor's cache. It has room for all sites that it may be given, by http and by https,
// with as much again left free; none goes. It takes no lock.
type siteTable []siteSlot

type siteSlot struct {
	hash atomic.Uint64 // 0 for none
	site atomic.Pointer[keptSite]
}

var siteSeed = maphash.MakeSeed()

// newSiteTable returns one for the sites of so many hosts.
func newSiteTable(hosts int) siteTable {
	size := 1
	for size < 4*hosts {
		size *= 2
	}
	return make(siteTable, size)
}

// hashOfSite tells sites of one server apart, by the host as the configuration spells it:
// nobody who does not know the seed can look for another with the same.
func hashOfSite(host string, secure bool) uint64 {
	hash := maphash.String(siteSeed, host) | 1 // 0 is none
	if secure {
		return hash ^ 1<<63
	}
	return hash
}

// find returns the site of a hash, nil if there is none yet.
func (t siteTable) find(hash uint64) *keptSite {
	for i := hash >> 1; ; i++ {
		slot := &t[i&uint64(len(t)-1)]
		switch slot.hash.Load() {
		case hash:
			return slot.site.Load()
		case 0:
			return nil
		}
	}
}

// add adds a site, or returns the one that was added meanwhile.
func (t siteTable) add(hash uint64, site *keptSite) *keptSite {
	for i := hash >> 1; ; i++ {
		slot := &t[i&uint64(len(t)-1)]
		if slot.hash.CompareAndSwap(0, hash) || slot.hash.Load() == hash {
			if slot.site.CompareAndSwap(nil, site) {
				return site
			}
			return slot.site.Load()
		}
	}
}

// serverSites are the hosts that the configuration names at a server, and what a guard
// keeps of their sites.
type serverSites struct {
	*request.Hosts
	table siteTable
}

// sitesOf returns those of the request's server.
func (g *Guard) sitesOf(r *http.Request) *serverSites {
	server, _ := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if g.Forwarded != nil {
		server = g.Forwarded.Server
	}
	if last := g.last.Load(); last != nil && last.Server == server {
		return last
	}
	known, ok := g.servers.Load(server)
	if !ok {
		hosts := g.hostsAt(server)
		known, _ = g.servers.LoadOrStore(server, &serverSites{hosts, newSiteTable(hosts.Len())})
	}
	g.last.Store(known.(*serverSites))
	return known.(*serverSites)
}

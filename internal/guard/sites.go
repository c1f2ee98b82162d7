package guard

import (
	"hash/maphash"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/request"
)

// siteTable finds what is kept of a site by a hash of its host, in one line of the
// processor's cache. It grows with the sites that were asked for, of which none goes. The
// zero table is empty. Finding one takes no lock.
type siteTable struct {
	slots atomic.Pointer[[]siteSlot] // of which half are free at least; nil before the first site
	mu    sync.Mutex                 // held while a site is added; guards what follows
	sites int
}

type siteSlot struct {
	hash atomic.Uint64 // 0 for none
	site atomic.Pointer[keptSite]
}

var siteSeed = maphash.MakeSeed()

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
func (t *siteTable) find(hash uint64) *keptSite {
	slots := t.slots.Load()
	if slots == nil {
		return nil
	}
	slot := slotOf(*slots, hash)
	if slot.hash.Load() != hash {
		return nil
	}
	return slot.site.Load()
}

// slotOf returns the slot that a hash has, or is to get.
func slotOf(slots []siteSlot, hash uint64) *siteSlot {
	for i := hash >> 1; ; i++ {
		slot := &slots[i&uint64(len(slots)-1)]
		if known := slot.hash.Load(); known == hash || known == 0 {
			return slot
		}
	}
}

// add adds a site, or returns the one that was added meanwhile.
func (t *siteTable) add(hash uint64, site *keptSite) *keptSite {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known := t.find(hash); known != nil {
		return known
	}
	slots := t.slots.Load()
	if slots == nil || 2*(t.sites+1) > len(*slots) {
		slots = grown(slots)
		t.slots.Store(slots)
	}
	slot := slotOf(*slots, hash)
	slot.site.Store(site) // before the hash, by which it is found
	slot.hash.Store(hash)
	t.sites++
	return site
}

// grown returns twice as many slots with the same sites.
func grown(slots *[]siteSlot) *[]siteSlot {
	if slots == nil {
		return new(make([]siteSlot, 2))
	}
	more := make([]siteSlot, 2*len(*slots))
	for i := range *slots {
		if hash := (*slots)[i].hash.Load(); hash != 0 {
			slot := slotOf(more, hash)
			slot.site.Store((*slots)[i].site.Load())
			slot.hash.Store(hash)
		}
	}
	return &more
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
	if g.ForwardAuth != nil {
		server = g.ForwardAuth.Server
	}
	if last := g.last.Load(); last != nil && last.Server == server {
		return last
	}
	known, ok := g.servers.Load(server)
	if !ok {
		known, _ = g.servers.LoadOrStore(server, &serverSites{Hosts: g.hostsAt(server)})
	}
	g.last.Store(known.(*serverSites))
	return known.(*serverSites)
}

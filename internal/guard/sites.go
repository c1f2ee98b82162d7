package guard

import (
	"hash/maphash"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/site"
)

// siteTable is a hash table of the requested sites, by host. A lookup needs no lock and one cache
// line. Sites are never removed. The zero table is empty.
type siteTable struct {
	slots atomic.Pointer[[]siteSlot] // at least half of them free; nil before the first site
	mu    sync.Mutex                 // for adding; guards the fields below
	sites int
}

type siteSlot struct {
	hash atomic.Uint64 // 0 for none
	site atomic.Pointer[cachedSite]
}

var siteSeed = maphash.MakeSeed()

// hashOfSite returns the hash of a site at one server. The random seed keeps clients from finding
// collisions.
func hashOfSite(host string, secure bool) uint64 {
	hash := maphash.String(siteSeed, host) | 1 // 0 is none
	if secure {
		return hash ^ 1<<63
	}
	return hash
}

// find returns the site with a hash, or nil.
func (t *siteTable) find(hash uint64) *cachedSite {
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

// slotOf returns the slot of a hash, or a free slot.
func slotOf(slots []siteSlot, hash uint64) *siteSlot {
	for i := hash >> 1; ; i++ {
		slot := &slots[i&uint64(len(slots)-1)]
		if known := slot.hash.Load(); known == hash || known == 0 {
			return slot
		}
	}
}

// add adds a site, or returns the site added by another request.
func (t *siteTable) add(hash uint64, site *cachedSite) *cachedSite {
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
	slot.site.Store(site) // before the hash, because find looks for the hash
	slot.hash.Store(hash)
	t.sites++
	return site
}

// grown returns a table with twice as many slots.
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

// serverSites has the configured hosts of a server and the guard's data of their sites.
type serverSites struct {
	*site.Hosts
	table siteTable
}

// sitesOf returns the sites of the request's server.
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
		known, _ = g.servers.LoadOrStore(server, &serverSites{Hosts: g.configuredHosts(server)})
	}
	g.last.Store(known.(*serverSites))
	return known.(*serverSites)
}

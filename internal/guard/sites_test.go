package guard

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// TestSiteTable fills tables with sites from several goroutines. The hashes also
// collide in most of their bits. Each goroutine adds all sites.
func TestSiteTable(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, sites := range []int{0, 1, 2, 3, 300} {
		for _, bits := range []uint64{1<<64 - 1, 1<<63 | 255, 7<<61 | 1} {
			var table siteTable
			want := make(map[uint64]bool)
			for range sites {
				want[random.Uint64()&bits|1] = true
			}
			added := make([]map[uint64]*cachedSite, 4)
			var all sync.WaitGroup
			for i := range added {
				added[i] = make(map[uint64]*cachedSite)
				all.Go(func() {
					for hash := range want {
						if found := table.find(hash); found != nil && i%2 == 0 {
							added[i][hash] = found
							continue
						}
						added[i][hash] = table.add(hash, new(cachedSite))
					}
				})
			}
			all.Wait()
			for _, own := range added {
				for hash, site := range own {
					if site == nil || site != table.find(hash) || site != added[0][hash] {
						t.Fatalf("%d sites: hash %x has several", sites, hash)
					}
				}
			}
			for range 100 {
				hash := random.Uint64() | 1
				if !want[hash] && table.find(hash) != nil {
					t.Fatalf("%d sites: one by a hash that none has", sites)
				}
			}
			if slots := table.slots.Load(); table.sites != len(want) || slots != nil && len(*slots) > 4*max(1, len(want)) {
				t.Errorf("%d sites in a table that says %d", len(want), table.sites)
			}
		}
	}
}

// TestGuardsOfOneServerKeepWhatTheyAreAskedFor tests one guard per site, as in a
// Caddyfile with many blocks. Their total memory must grow with the number of sites,
// not with its square.
func TestGuardsOfOneServerKeepWhatTheyAreAskedFor(t *testing.T) {
	const sites = 500
	hosts := manyHosts(sites)
	server := serverNaming(hosts...)
	first := testGuard(t, options{}, serving(mixedRobots))
	slots := 0
	for _, host := range hosts {
		g := New(t.Context(), first.shared, first.Config)
		r := browserAt(server)
		r.Host = host
		if g.Judge(r) != nil || g.namedSite(r) == nil {
			t.Fatalf("%s is not kept", host)
		}
		slots += len(*g.last.Load().table.slots.Load())
	}
	if slots > 4*sites {
		t.Errorf("%d slots for %d sites", slots, sites)
	}
}

// TestHashOfSite checks that hashes distinguish hosts and schemes.
func TestHashOfSite(t *testing.T) {
	seen := make(map[uint64]string)
	for i := range 1000 {
		for _, secure := range []bool{false, true} {
			name := fmt.Sprint(i, secure)
			hash := hashOfSite(fmt.Sprintf("s%d.example", i), secure)
			if hash == 0 || seen[hash] != "" || hash != hashOfSite(fmt.Sprintf("s%d.example", i), secure) {
				t.Errorf("%s and %q have the hash %x", name, seen[hash], hash)
			}
			seen[hash] = name
		}
	}
}

// TestSitesOfServers sends requests to one guard at two servers in turn. The servers
// name different hosts, and each must find only its own.
func TestSitesOfServers(t *testing.T) {
	g := testGuard(t, options{Enforce: true}, serving(mixedRobots))
	servers := map[string]*caddyhttp.Server{"a.example": serverNaming("a.example"), "b.example": serverNaming("b.example")}
	at := func(server, host string) *cachedSite {
		r := caddyhttp.PrepareRequest(requestBy("bingbot/2.0", "http://"+host+"/"), caddy.NewReplacer(), nil, servers[server])
		return g.namedSite(r)
	}
	first := make(map[string]*cachedSite)
	for range 3 {
		for host := range servers {
			site := at(host, host)
			if site == nil || site.Label != host || first[host] != nil && site != first[host] {
				t.Fatalf("%s is %+v", host, site)
			}
			first[host] = site
		}
		if at("a.example", "b.example") != nil || at("b.example", "a.example") != nil {
			t.Error("a server has a site of the other")
		}
	}
	if first["a.example"].shared.IsShared() {
		t.Error("a site of one guard is said to be of several")
	}
}

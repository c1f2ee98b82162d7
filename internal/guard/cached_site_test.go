package guard

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// serverNaming returns a server that names the given hosts.
func serverNaming(hosts ...string) *caddyhttp.Server {
	names := caddyhttp.MatchHost(hosts)
	return &caddyhttp.Server{Routes: caddyhttp.RouteList{{MatcherSets: caddyhttp.MatcherSets{{&names}}}}}
}

func twoHosts() *caddyhttp.Server { return serverNaming("a.example", "b.example") }

// manyHosts returns n host names.
func manyHosts(n int) []string {
	hosts := make([]string, n)
	for i := range hosts {
		hosts[i] = fmt.Sprintf("s%d.example", i)
	}
	return hosts
}

// askAt returns a crawler's request as it arrives at a server.
func askAt(server *caddyhttp.Server, url string) *http.Request {
	return caddyhttp.PrepareRequest(requestBy("bingbot/2.0", url), caddy.NewReplacer(), httptest.NewRecorder(), server)
}

// TestKeptSiteLetsGoOfItsEntry sends requests to two sites in turn, with a cache for
// one policy. The guard uses the current entry of the cache, and keeps no evicted
// policy in memory.
func TestKeptSiteLetsGoOfItsEntry(t *testing.T) {
	g := testGuard(t, options{Enforce: true}, serving(mixedRobots))
	g.shared.Cache = policy.NewCache(policy.Bounds{Entries: 1, ConcurrentFetches: 1}, unknownHostBounds, time.Now, deriveNames)
	server := twoHosts()
	judged := func(url string) *site.ConfiguredSite {
		t.Helper()
		j := g.Judge(askAt(server, url))
		if j == nil || j.configured == nil || j.Version == nil {
			t.Fatalf("%s: %+v, want one judged by the rules of a site that is kept", url, j)
		}
		if e := g.cachedEntry(j.configured, &j.Site.Key); e == nil || e != g.shared.Cache.Get(j.Site.Key) {
			t.Errorf("%s: judged by an entry that the cache does not have", url)
		}
		return j.configured
	}
	a := judged("http://a.example/")
	dropped := weak.Make(a.Entry.Load().Entry())
	judged("http://b.example/")
	if g.cachedEntry(a, &a.Key) != nil {
		t.Error("an entry that the cache has dropped is at hand")
	}
	for range 20 { // it may still be on a stack at first
		if runtime.GC(); dropped.Value() == nil {
			break
		}
	}
	if dropped.Value() != nil {
		t.Error("a policy that the cache has dropped is kept")
	}
	if judged("http://a.example/") != a {
		t.Error("a site is kept twice")
	}
	if a.Entry.Load().Entry() == nil {
		t.Error("the new entry is not at hand")
	}
}

// TestKnownSiteTakesNoLock checks that a site with a record takes no lock, whether the
// configuration names it or not.
func TestKnownSiteTakesNoLock(t *testing.T) {
	g := testGuard(t, options{}, serving(mixedRobots))
	server := twoHosts()
	for _, url := range []string{"http://a.example/", "http://other.example/"} {
		j := g.Judge(askAt(server, url))
		g.recordSite(j)
		g.shared.sites.mu.Lock()
		done := make(chan struct{})
		go func() {
			g.recordSite(j)
			close(done)
		}()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Errorf("%s waits for a lock", url)
		}
		g.shared.sites.mu.Unlock()
	}
}

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

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
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
	g.shared.Cache = policy.NewCache(policy.Bounds{Entries: 1, ConcurrentFetches: 1}, inventedBounds, time.Now, deriveNames)
	server := twoHosts()
	judged := func(url string) *cachedSite {
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
	dropped := weak.Make(a.entry.Load().Entry())
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
	if a.entry.Load().Entry() == nil {
		t.Error("the new entry is not at hand")
	}
}

// TestKeptSiteIsOfOneGuard tests two guards at a host, one of them with the option
// source. Each caches the site with its own source.
func TestKeptSiteIsOfOneGuard(t *testing.T) {
	plain, sourced := testGuard(t, options{Enforce: true}, serving(mixedRobots)), testGuard(t, options{SourceKey: "/srv/robots.txt"}, serving(mixedRobots))
	sourced.shared, sourced.Metrics, sourced.Sites = plain.shared, plain.Metrics, plain.Sites
	plain.shared.Ledger = ledger.New(time.Now)
	server := twoHosts()
	for range 2 {
		for _, g := range []*Guard{plain, sourced} {
			r := askAt(server, "http://a.example/")
			j := g.Judge(r)
			g.Announce(r, j)
			if j.Site.Key.Source != g.SourceKey || j.configured == nil || !j.configured.present.Load() || !g.judgesFor("a.example") {
				t.Errorf("the site is %+v by the guard of %q", j.configured, g.SourceKey)
			}
			if g.judgesFor("b.example") {
				t.Error("it is said to judge for a site that nobody has asked for")
			}
		}
	}
	if site := plain.shared.presences.all()["a.example"]; site.mode != ledger.ModeMixed {
		t.Errorf("the site is in %q, want both", site.mode)
	}
}

// TestPresenceThatIsKnownTakesNoLock checks that a known presence takes no lock, for
// sites that the configuration names and for others.
func TestPresenceThatIsKnownTakesNoLock(t *testing.T) {
	g := testGuard(t, options{}, serving(mixedRobots))
	server := twoHosts()
	for _, url := range []string{"http://a.example/", "http://other.example/"} {
		j := g.Judge(askAt(server, url))
		g.recordPresence(j)
		g.shared.presences.mu.Lock()
		done := make(chan struct{})
		go func() {
			g.recordPresence(j)
			close(done)
		}()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Errorf("%s waits for a lock", url)
		}
		g.shared.presences.mu.Unlock()
	}
}

package guard

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
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

// TestKnownSiteTakesNoLock checks that a site with a record takes no lock, whether the
// configuration names it or not.
func TestKnownSiteTakesNoLock(t *testing.T) {
	g := testGuard(t, options{}, serving(mixedRobots))
	server := twoHosts()
	for _, url := range []string{"http://a.example/", "http://other.example/"} {
		j := g.Judge(askAt(server, url))
		g.recordSite(j)
		g.state.siteRecords.mu.Lock()
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
		g.state.siteRecords.mu.Unlock()
	}
}

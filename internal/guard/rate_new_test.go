package guard

import (
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/rate"
)

// TestLimitOfANewName checks that a limit of a crawler that only the limit names counts
// the requests of all networks together. The limit of a class counts a crawler without
// a name per network.
func TestLimitOfANewName(t *testing.T) {
	settings := *slow
	settings.Limits = []rate.Limit{limitOf(t, "token:AcmeBot", 6), limitOf(t, "crawler", 2)}
	g := testGuard(t, options{Rate: &settings}, serving(""))
	for name, want := range map[string]int{"AcmeBot": 6, "OtherBot": 20} {
		passes := 0
		for n := range 40 {
			r := from(requestBy(name+"/1.0 (+https://acme.example/bot)", "/"), fmt.Sprintf("192.0.%d.1", n%10))
			if g.Judge(r).Rate.State == rate.WithinRate {
				passes++
			}
		}
		if passes != want {
			t.Errorf("%s: %d passed, want %d", name, passes, want)
		}
	}
}

// TestUnknownHostsWithSharedSource sends requests with invented hosts to a site whose guard fetches the
// rules of all hosts from one URL. These requests must not evict the budgets of the configured host.
func TestUnknownHostsWithSharedSource(t *testing.T) {
	settings := *slow
	settings.Limits = []rate.Limit{limitOf(t, "GPTBot", 2)}
	g := testGuard(t, options{Rate: &settings, SourceKey: "https://example.com/robots.txt"}, serving(""))
	ask := func(host string) rate.State {
		r := requestBy("GPTBot/1.3", "/")
		r.Host = host
		return g.Judge(caddyhttp.PrepareRequest(r, caddy.NewReplacer(), httptest.NewRecorder(), namedServer)).Rate.State
	}
	for range 3 {
		ask("example.com")
	}
	for i := range 40_000 {
		ask(fmt.Sprintf("x%d.test", i))
	}
	if got := ask("example.com"); got != rate.OverRate {
		t.Errorf("the configured host is %s, want %s", got, rate.OverRate)
	}
}

package guard

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/identity"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// namesOfBing is a resolver that knows 192.0.2.1 as an address of bingbot, and no names
// of other addresses.
type namesOfBing struct{}

func (namesOfBing) LookupPTR(_ context.Context, addr netip.Addr) ([]string, error) {
	if addr == netip.MustParseAddr("192.0.2.1") {
		return []string{"crawl.search.msn.com."}, nil
	}
	return nil, verify.ErrNoName
}

func (namesOfBing) LookupAddr(context.Context, string, netip.Addr) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
}

// verifyingGuards returns guards with the client address of a bingbot: without verify,
// and with a known result of an address list or of reverse DNS.
func verifyingGuards(t testing.TB) map[string]struct {
	guard  *Guard
	client string
	want   verify.State
} {
	list := filepath.Join(t.TempDir(), "bingbot.txt")
	if err := os.WriteFile(list, []byte("198.51.100.0/24"), 0o600); err != nil {
		t.Fatal(err)
	}
	with := func(verifies bool) *Guard {
		g := testGuard(t, options{Enforce: true}, serving(mixedRobots))
		verifier := verify.New(verify.Options{Resolver: namesOfBing{}})
		g.Identity = &identity.Checker{Logger: zap.NewNop()}
		if !verifies {
			return g
		}
		g.Identity.Verifier = verifier
		if err := verifier.Configure(verify.Config{
			Crawlers: g.Registry.Load().Crawlers(), Lists: []verify.List{{CrawlerOrOperator: "bingbot", File: list}}, ReverseDNS: true,
		}); err != nil {
			t.Fatal(err)
		}
		return g
	}
	on := func() *Guard { return with(true) }
	return map[string]struct {
		guard  *Guard
		client string
		want   verify.State
	}{
		"off":              {with(false), "198.51.100.1", verify.Claimed},
		"verified by list": {on(), "198.51.100.1", verify.Verified},
		"verified by DNS":  {on(), "192.0.2.1", verify.Verified},
		"spoofed":          {on(), "203.0.113.9", verify.Spoofed},
	}
}

// bingbotFrom returns a request of bingbot as Caddy passes it to a handler.
func bingbotFrom(client string) *http.Request {
	r := requestBy("Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "/some/page?with=query")
	r.RemoteAddr = client + ":4711"
	return caddyhttp.PrepareRequest(r, caddy.NewReplacer(), httptest.NewRecorder(), new(caddyhttp.Server))
}

// TestVerifyingCostsNoAllocation checks requests whose result is known.
func TestVerifyingCostsNoAllocation(t *testing.T) {
	guards := verifyingGuards(t)
	allocations := func(name string) float64 {
		g, r := guards[name].guard, bingbotFrom(guards[name].client)
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
			if j := g.Judge(r); j.Verification == guards[name].want && j.Version != nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s never happened", name)
			}
		}
		return testing.AllocsPerRun(100, func() { g.Judge(r) })
	}
	off := allocations("off")
	for name := range guards {
		if n := allocations(name); n > off {
			t.Errorf("%s: %v allocations, %v without verify", name, n, off)
		}
	}
}

func BenchmarkGuardVerify(b *testing.B) {
	guards := verifyingGuards(b)
	for _, name := range []string{"off", "verified by list", "verified by DNS", "spoofed"} {
		b.Run(name, func(b *testing.B) {
			g, r := guards[name].guard, bingbotFrom(guards[name].client)
			for j := g.Judge(r); j.Verification != guards[name].want || j.Version == nil; j = g.Judge(r) {
			}
			b.ReportAllocs()
			for b.Loop() {
				g.Judge(r)
			}
		})
	}
}

package caddymodule

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// namesOfBing answers that 192.0.2.1 is an address of bingbot, and that no other
// has a name.
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

// verifyingGuards are guards whose requests of bingbot from client are without
// verify, and with it where it is known by a list or by reverse DNS what the
// client is.
func verifyingGuards(t testing.TB) map[string]struct {
	guard  *guard
	client string
	want   identity
} {
	list := filepath.Join(t.TempDir(), "bingbot.txt")
	if err := os.WriteFile(list, []byte("198.51.100.0/24"), 0o600); err != nil {
		t.Fatal(err)
	}
	with := func(v *Verify) *guard {
		g := testGuard(t, Handler{Mode: modeEnforce}, serving(mixedRobots))
		verifier := verify.New(verify.Options{Resolver: namesOfBing{}})
		g.app = &App{
			Verify: v, Crawlers: []Crawler{{Token: "bingbot", Ranges: []Ranges{{File: list}}}},
			registry: uaident.Default(), logger: zap.NewNop(), warned: new(proxyWarnings), state: &state{verifier: verifier},
		}
		if err := verifier.Configure(g.app.config()); err != nil {
			t.Fatal(err)
		}
		return g
	}
	on := func() *guard { return with(&Verify{Ranges: rangesConfigured}) }
	return map[string]struct {
		guard  *guard
		client string
		want   identity
	}{
		"off":              {with(nil), "198.51.100.1", identityClaimed},
		"verified by list": {on(), "198.51.100.1", identityVerified},
		"verified by DNS":  {on(), "192.0.2.1", identityVerified},
		"spoofed":          {on(), "203.0.113.9", identitySpoofed},
	}
}

// bingbotFrom is a request of bingbot as Caddy passes it to a handler.
func bingbotFrom(client string) *http.Request {
	r := request("Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "/some/page?with=query")
	r.RemoteAddr = client + ":4711"
	return caddyhttp.PrepareRequest(r, caddy.NewReplacer(), httptest.NewRecorder(), new(caddyhttp.Server))
}

// TestVerifyingCostsNoAllocation holds where the result is known.
func TestVerifyingCostsNoAllocation(t *testing.T) {
	guards := verifyingGuards(t)
	allocations := func(name string) float64 {
		g, r := guards[name].guard, bingbotFrom(guards[name].client)
		soon(t, name, func() bool {
			j := g.judge(r)
			return j.identity == guards[name].want && j.version != nil
		})
		return testing.AllocsPerRun(100, func() { g.judge(r) })
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
			for j := g.judge(r); j.identity != guards[name].want || j.version == nil; j = g.judge(r) {
			}
			b.ReportAllocs()
			for b.Loop() {
				g.judge(r)
			}
		})
	}
}

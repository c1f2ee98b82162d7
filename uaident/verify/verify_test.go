package verify

import (
	"context"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// clock is a manual clock.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: epoch.Add(1000 * time.Hour)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// eventually waits until a condition is true, with a timeout for slow machines.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timeout: %s", what)
		}
	}
}

// fakeDNS is a Resolver with fixed records. All other names and addresses do not exist, unless they
// are in fails.
type fakeDNS struct {
	mu    sync.Mutex
	ptr   map[string][]string // names by address
	addrs map[string][]string // addresses by name
	fails map[string]error    // errors by address or name
	down  error               // the error of all lookups, if not nil
	asked int
	gate  chan struct{} // if not nil, lookups wait until the channel is closed
}

func (f *fakeDNS) look(ctx context.Context, in map[string][]string, key string) ([]string, error) {
	f.mu.Lock()
	f.asked++
	gate := f.gate
	f.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down != nil {
		return nil, f.down
	}
	if err := f.fails[key]; err != nil {
		return nil, err
	}
	if in[key] == nil {
		return nil, ErrNoName
	}
	return in[key], nil
}

func (f *fakeDNS) LookupPTR(ctx context.Context, addr netip.Addr) ([]string, error) {
	return f.look(ctx, f.ptr, addr.String())
}

func (f *fakeDNS) LookupAddr(ctx context.Context, name string, like netip.Addr) (addrs []netip.Addr, err error) {
	found, err := f.look(ctx, f.addrs, strings.TrimSuffix(name, "."))
	for _, a := range found {
		addrs = append(addrs, netip.MustParseAddr(a))
	}
	return addrs, err
}

func (f *fakeDNS) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

func (f *fakeDNS) change(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// configured returns a verifier with a configuration.
func configured(t testing.TB, o Options, c Config) *Verifier {
	t.Helper()
	v := New(o)
	t.Cleanup(v.Close)
	if err := v.Configure(c); err != nil {
		t.Fatal(err)
	}
	return v
}

// settled repeats Check until no lookup is running, and returns the finding.
func settled(t testing.TB, v *Verifier, c *uaident.Crawler, addr string) Finding {
	t.Helper()
	a := netip.MustParseAddr(addr)
	v.Check(c, a)
	idle(t, v)
	return v.Check(c, a)
}

func idle(t testing.TB, v *Verifier) {
	t.Helper()
	eventually(t, "no lookup under way", func() bool {
		s := v.Stats()
		return s.Running == 0 && s.Waiting == 0
	})
}

// Crawlers with different properties.
var (
	fooBot = uaident.Crawler{Token: "FooBot", Operator: "Foo", Class: uaident.Search, Aliases: []string{"Fooster"},
		Verification: uaident.Verification{RDNS: []string{".bot.example.com", ".crawl.example.net"}}}
	fooImage = uaident.Crawler{Token: "FooBot-Image", Operator: "Foo", Class: uaident.Search, Fallback: []string{"FooBot"},
		Verification: fooBot.Verification}
	fooPreview = uaident.Crawler{Token: "FooPreview", Operator: "Foo", Class: uaident.Preview, Verification: fooBot.Verification}
	fooUser    = uaident.Crawler{Token: "Foo-User", Operator: "Foo", Class: uaident.AIAssistant, UserTriggered: true, Verification: fooBot.Verification}
	unsureBot  = uaident.Crawler{Token: "UnsureBot", Operator: "Unsure", Class: uaident.Search,
		Verification: uaident.Verification{RDNS: []string{".bot.example.com"}, IsThirdParty: true}}
	plainBot = uaident.Crawler{Token: "PlainBot", Class: uaident.SEO}
	copyBot  = uaident.Crawler{Token: "CopyBot", Operator: "Copy", Class: uaident.Search, Fallback: []string{"FooBot"}}
)

func crawlers() []uaident.Crawler {
	return []uaident.Crawler{fooBot, fooImage, fooPreview, fooUser, unsureBot, plainBot, copyBot}
}

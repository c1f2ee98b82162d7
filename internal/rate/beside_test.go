package rate

import (
	"net/netip"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// byAddress is what limiters by address do, such as the module http.handlers.rate_limit
// with {remote_host} for a key: so many events in a sliding window for each, of which the
// times are kept in a ring. It stands in for that module, which the gate does not have; the
// real one is asked by integration/neighbours.TestBesideRateLimit.
type byAddress struct {
	mu     sync.Mutex
	most   int
	window time.Duration
	rings  map[netip.Addr]*ring
}

type ring struct {
	times []time.Time
	next  int
}

func newByAddress(most int, window time.Duration) *byAddress {
	return &byAddress{most: most, window: window, rings: make(map[netip.Addr]*ring)}
}

// allows reports whether a request may pass.
func (l *byAddress) allows(from netip.Addr, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.rings[from]
	if r == nil {
		r = &ring{times: make([]time.Time, l.most)}
		l.rings[from] = r
	}
	if oldest := r.times[r.next]; !oldest.IsZero() && now.Sub(oldest) < l.window {
		return false
	}
	r.times[r.next] = now
	r.next = (r.next + 1) % l.most
	return true
}

// who asks in a comparison: a crawler with how often it asks a minute and from where.
type comparedCrawler struct {
	token     string
	identity  verify.State
	perMinute int
	addresses []netip.Addr
	windows   bool // one request anywhere in each window, as Bing
}

func addressesFrom(first, n int) (all []netip.Addr) {
	for i := range n {
		k := first + i
		all = append(all, netip.AddrFrom4([4]byte{198, byte(18 + k>>16), byte(k >> 8), byte(k)}))
	}
	return all
}

// TestBesideALimitByAddress lets the same crawlers come to budgets by who they are and to
// a limit by address: both ask for 12 requests a minute at most, for an hour. Who keeps to
// that is never refused here, and who does not passes no more than that.
func TestBesideALimitByAddress(t *testing.T) {
	shared := addressesFrom(0, 1)
	for _, tc := range []struct {
		name            string
		crawlers        []comparedCrawler
		refused, passed [2]int // at most and at least, in a thousand refused here and there; and passed here
	}{
		{"one that keeps to it, from 1,000 addresses", []comparedCrawler{{"CCBot", verify.Verified, 12, addressesFrom(0, 1000), false}}, [2]int{0, 0}, [2]int{720, 720}},
		{"one that asks a hundred times as fast, from 1,000 addresses", []comparedCrawler{{"CCBot", verify.Verified, 1200, addressesFrom(0, 1000), false}}, [2]int{1000, 0}, [2]int{720, 820}},
		{"six that keep to it, behind one address", []comparedCrawler{
			{"CCBot", verify.Verified, 12, shared, false}, {"bingbot", verify.Verified, 12, shared, false}, {"GPTBot", verify.Verified, 12, shared, false},
			{"AhrefsBot", verify.Verified, 12, shared, false}, {"SemrushBot", verify.Verified, 12, shared, false}, {"Amazonbot", verify.Verified, 12, shared, false},
		}, [2]int{0, 800}, [2]int{4320, 4320}},
		{"one that keeps it as windows of five seconds", []comparedCrawler{{"bingbot", verify.Verified, 12, shared, true}}, [2]int{0, 1}, [2]int{720, 720}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ours, theirs := NewBudgets(start), newByAddress(12, time.Minute)
			asked, here, there := 0, 0, 0
			for ms := range 3600 * 1000 / 50 { // an hour in steps of 50 ms
				since := time.Duration(ms) * 50 * time.Millisecond
				for i, c := range tc.crawlers {
					every := time.Minute / time.Duration(c.perMinute)
					n := int(since / every)
					at := time.Duration(n)*every + time.Duration(i)*50*time.Millisecond
					if c.windows { // early or late in each
						at = time.Duration(n) * every
						if n*7%5 < 2 {
							at += every - 50*time.Millisecond
						}
					}
					if since != at {
						continue
					}
					now, from := start.Add(since), c.addresses[n%len(c.addresses)]
					asked++
					who := Client{Site: shop, Token: c.token, Identity: c.identity, Network: netip.PrefixFrom(from, 24).Masked()}
					if !ours.Spend(now, &who, asking(5*time.Second)).Over {
						here++
					}
					if theirs.allows(from, now) {
						there++
					}
				}
			}
			t.Logf("of %d requests %d pass by who it is, and %d by address", asked, here, there)
			if got := 1000 * (asked - here) / asked; got > tc.refused[0] || 1000*(asked-there)/asked < tc.refused[1] && tc.refused[1] > 0 {
				t.Errorf("of a thousand %d are refused here, and %d by address", got, 1000*(asked-there)/asked)
			}
			if here < tc.passed[0] || here > tc.passed[1] {
				t.Errorf("%d pass, want %d to %d", here, tc.passed[0], tc.passed[1])
			}
		})
	}
}

// BenchmarkBesideALimitByAddress is what a request of 100,000 addresses costs, and what
// is kept of them.
func BenchmarkBesideALimitByAddress(b *testing.B) {
	addresses := addressesFrom(0, 100_000)
	memory := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	b.Run("by who it is", func(b *testing.B) {
		before := memory()
		budgets, rules, n := NewBudgets(start), asking(5*time.Second), 0
		who := Client{Site: shop, Token: "CCBot", Identity: verify.Claimed}
		for b.Loop() {
			who.Network = netip.PrefixFrom(addresses[n%len(addresses)], 24)
			budgets.Spend(start.Add(time.Duration(n)*time.Millisecond), &who, rules)
			n++
		}
		b.ReportMetric(float64(memory()-before)/1024, "KiB-kept")
		runtime.KeepAlive(budgets)
	})
	b.Run("by address", func(b *testing.B) {
		before := memory()
		limiter, n := newByAddress(12, time.Minute), 0
		for b.Loop() {
			limiter.allows(addresses[n%len(addresses)], start.Add(time.Duration(n)*time.Millisecond))
			n++
		}
		b.ReportMetric(float64(memory()-before)/1024, "KiB-kept")
		runtime.KeepAlive(limiter)
	})
}

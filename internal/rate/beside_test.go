package rate

import (
	"net/netip"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// addressLimiter limits requests by client address, as the module http.handlers.rate_limit does
// with the key {remote_host}: a sliding window for each address, with the times of its requests in
// a ring. It replaces that module, because this package cannot import it.
// integration/neighbours.TestBesideRateLimit tests the real module.
type addressLimiter struct {
	mu     sync.Mutex
	most   int
	window time.Duration
	rings  map[netip.Addr]*ring
}

type ring struct {
	times []time.Time
	next  int
}

func newAddressLimiter(most int, window time.Duration) *addressLimiter {
	return &addressLimiter{most: most, window: window, rings: make(map[netip.Addr]*ring)}
}

// allows reports whether a request may pass.
func (l *addressLimiter) allows(from netip.Addr, now time.Time) bool {
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

// comparedCrawler is a crawler in the comparison.
type comparedCrawler struct {
	token     string
	identity  verify.State
	perMinute int
	addresses []netip.Addr
	windows   bool // one request at a random time in each window, as Bing does
}

func addressesFrom(first, n int) (addresses []netip.Addr) {
	for i := range n {
		k := first + i
		addresses = append(addresses, netip.AddrFrom4([4]byte{198, byte(18 + k>>16), byte(k >> 8), byte(k)}))
	}
	return addresses
}

// TestComparedWithAddressLimiter sends the same requests for an hour to Budgets and to an
// addressLimiter. Both limit to 12 requests a minute. Budgets refuses no request of a compliant
// crawler and lets no more than the limit pass.
func TestComparedWithAddressLimiter(t *testing.T) {
	shared := addressesFrom(0, 1)
	for _, tc := range []struct {
		name            string
		crawlers        []comparedCrawler
		refused, passed [2]int // requests in 1,000: maximum refused by Budgets, minimum refused by the addressLimiter; minimum and maximum passed by Budgets
	}{
		{"a compliant crawler from 1,000 addresses", []comparedCrawler{{"CCBot", verify.Verified, 12, addressesFrom(0, 1000), false}}, [2]int{0, 0}, [2]int{720, 720}},
		{"a crawler at 100 times the rate from 1,000 addresses", []comparedCrawler{{"CCBot", verify.Verified, 1200, addressesFrom(0, 1000), false}}, [2]int{1000, 0}, [2]int{720, 820}},
		{"six compliant crawlers behind one address", []comparedCrawler{
			{"CCBot", verify.Verified, 12, shared, false}, {"bingbot", verify.Verified, 12, shared, false}, {"GPTBot", verify.Verified, 12, shared, false},
			{"AhrefsBot", verify.Verified, 12, shared, false}, {"SemrushBot", verify.Verified, 12, shared, false}, {"Amazonbot", verify.Verified, 12, shared, false},
		}, [2]int{0, 800}, [2]int{4320, 4320}},
		{"a compliant crawler at random times in windows of five seconds", []comparedCrawler{{"bingbot", verify.Verified, 12, shared, true}}, [2]int{0, 1}, [2]int{720, 720}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ours, theirs := NewBudgets(start), newAddressLimiter(12, time.Minute)
			requests, here, there := 0, 0, 0
			for ms := range 3600 * 1000 / 50 { // an hour in steps of 50 ms
				since := time.Duration(ms) * 50 * time.Millisecond
				for i, c := range tc.crawlers {
					every := time.Minute / time.Duration(c.perMinute)
					n := int(since / every)
					at := time.Duration(n)*every + time.Duration(i)*50*time.Millisecond
					if c.windows { // early or late in each window
						at = time.Duration(n) * every
						if n*7%5 < 2 {
							at += every - 50*time.Millisecond
						}
					}
					if since != at {
						continue
					}
					now, from := start.Add(since), c.addresses[n%len(c.addresses)]
					requests++
					client := Client{Site: shop, Token: c.token, Identity: c.identity, Network: netip.PrefixFrom(from, 24).Masked()}
					if !ours.ChargeRequest(now, &client, delayRules(5*time.Second)).IsOverRate {
						here++
					}
					if theirs.allows(from, now) {
						there++
					}
				}
			}
			t.Logf("of %d requests %d pass Budgets and %d pass addressLimiter", requests, here, there)
			if got := 1000 * (requests - here) / requests; got > tc.refused[0] || 1000*(requests-there)/requests < tc.refused[1] && tc.refused[1] > 0 {
				t.Errorf("of 1,000 requests Budgets refuses %d and addressLimiter %d", got, 1000*(requests-there)/requests)
			}
			if here < tc.passed[0] || here > tc.passed[1] {
				t.Errorf("%d requests pass, want %d to %d", here, tc.passed[0], tc.passed[1])
			}
		})
	}
}

// BenchmarkComparedWithAddressLimiter measures time and memory for requests from 100,000 addresses.
func BenchmarkComparedWithAddressLimiter(b *testing.B) {
	addresses := addressesFrom(0, 100_000)
	memory := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	b.Run("budgets", func(b *testing.B) {
		before := memory()
		budgets, rules, n := NewBudgets(start), delayRules(5*time.Second), 0
		client := Client{Site: shop, Token: "CCBot", Identity: verify.Claimed}
		for b.Loop() {
			client.Network = netip.PrefixFrom(addresses[n%len(addresses)], 24)
			budgets.ChargeRequest(start.Add(time.Duration(n)*time.Millisecond), &client, rules)
			n++
		}
		b.ReportMetric(float64(memory()-before)/1024, "KiB-retained")
		runtime.KeepAlive(budgets)
	})
	b.Run("addressLimiter", func(b *testing.B) {
		before := memory()
		limiter, n := newAddressLimiter(12, time.Minute), 0
		for b.Loop() {
			limiter.allows(addresses[n%len(addresses)], start.Add(time.Duration(n)*time.Millisecond))
			n++
		}
		b.ReportMetric(float64(memory()-before)/1024, "KiB-retained")
		runtime.KeepAlive(limiter)
	})
}

package rate

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

var (
	start = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	shop  = &policy.Key{Site: "shop.example", IsHTTPS: true, Host: "shop.example"}
)

// delayRules returns the rules for a Crawl-delay with the default options.
func delayRules(delay time.Duration) *Rules {
	return &Rules{CrawlDelay: Rule{Interval: delay, Burst: 10}, Tolerance: 1.5, Window: 5 * time.Minute}
}

// network returns the network with number n.
func network(n int) netip.Prefix {
	return addr.NetworkOfAddr(netip.AddrFrom4([4]byte{byte(10 + n>>16), byte(n >> 8), byte(n), 7}))
}

func (s Client) from(n int) *Client { s.Network = network(n); return &s }

var (
	verified = Client{Site: shop, Token: "bingbot", Identity: verify.Verified}
	claimed  = Client{Site: shop, Token: "bingbot", Identity: verify.Claimed}
)

// TestSharedBudgets checks which clients share a budget.
func TestSharedBudgets(t *testing.T) {
	other, plain := *shop, *shop
	other.Host, plain.IsHTTPS = "www.shop.example", false
	forwarded, source := *shop, *shop
	forwarded.ForwardedHost, source.Source = "b.example", "https://c.example/robots.txt"
	for _, tc := range []struct {
		name        string
		first, then Client
		shared      bool
	}{
		{"a verified crawler from another network", verified, *verified.from(9), true},
		{"a verified crawler and a claimed crawler", claimed, verified, false},
		{"a verified crawler and a spoofed client", Client{Site: shop, Token: "bingbot", Identity: verify.Spoofed}, verified, false},
		{"another crawler", verified, Client{Site: shop, Token: "CCBot", Identity: verify.Verified}, false},
		{"another host", verified, Client{Site: &other, Token: "bingbot", Identity: verify.Verified}, false},
		{"another scheme", verified, Client{Site: &plain, Token: "bingbot", Identity: verify.Verified}, false},
		{"another forwarded host", verified, Client{Site: &forwarded, Token: "bingbot", Identity: verify.Verified}, false},
		{"another source", verified, Client{Site: &source, Token: "bingbot", Identity: verify.Verified}, false},
		{"the same host as an unknown host", verified, Client{Site: shop, Token: "bingbot", Identity: verify.Verified, UnknownHost: true}, false},
		{"a claimed crawler from another network", claimed, *claimed.from(9), true},
		{"a claimed crawler and a client that is not verified yet", claimed, Client{Site: shop, Token: "bingbot", Identity: verify.Unknown}, true},
		{"another claimed name from the same network", claimed, Client{Site: shop, Token: "CCBot", Identity: verify.Claimed}, false},
		{"two unknown clients from one network", *Client{Site: shop}.from(1), *Client{Site: shop}.from(1), true},
		{"two unknown clients from two networks", *Client{Site: shop}.from(1), *Client{Site: shop}.from(2), false},
		{"two spoofed clients from one network", *Client{Site: shop, Token: "a", Identity: verify.Spoofed}.from(1), *Client{Site: shop, Token: "b", Identity: verify.Spoofed}.from(1), true},
	} {
		b := NewBudgets(start)
		rules := &Rules{ConfiguredLimit: Rule{Interval: time.Minute, Burst: 1}}
		if b.ChargeRequest(start, &tc.first, rules).IsOverRate {
			t.Fatalf("%s: the first request is over the rate", tc.name)
		}
		if got := b.ChargeRequest(start, &tc.then, rules).IsOverRate; got != tc.shared {
			t.Errorf("%s: over %v, want %v", tc.name, got, tc.shared)
		}
	}
}

// TestBudgetKeys checks that similar networks and limits have different budgets.
func TestBudgetKeys(t *testing.T) {
	four, six := netip.MustParsePrefix("203.7.0.0/24"), netip.MustParsePrefix("2800:ffff:cb07::/48")
	first, then := claimed, claimed
	first.Network, then.Network, first.IsSharedSoftware, then.IsSharedSoftware = six, four, true, true
	b, rules := NewBudgets(start), &Rules{ConfiguredLimit: Rule{Interval: time.Minute, Burst: 1}}
	b.ChargeRequest(start, &first, rules)
	if b.ChargeRequest(start, &then, rules).IsOverRate {
		t.Errorf("%v and %v share a budget", six, four)
	}
	for i := range 32 {
		host := fmt.Sprint(i, ".example")
		plain, secure := &policy.Key{Site: host, Host: host}, &policy.Key{Site: host, Host: host, IsHTTPS: true}
		b.ChargeRequest(start, &Client{Site: plain, Token: "bingbot", Identity: verify.Verified}, &Rules{ConfiguredLimit: Rule{Interval: time.Minute, Burst: 4}})
		b.ChargeRequest(start, &Client{Site: secure, Token: "bingbot", Identity: verify.Verified}, &Rules{ConfiguredLimit: Rule{Interval: time.Minute, Burst: 5}})
	}
	if got := b.configuredTables.verified.len(); got != 2*32 {
		t.Errorf("%d sites with different limits have %d budgets", 2*32, got)
	}
}

// TestVerifiedFromManyNetworks sends requests of a verified crawler from 1,000 networks. All
// requests are charged to one budget.
func TestVerifiedFromManyNetworks(t *testing.T) {
	b, rules := NewBudgets(start), delayRules(10*time.Second)
	passed := 0
	for i := range 10 * 60 * 2 { // ten minutes, two requests a second
		if !b.ChargeRequest(start.Add(time.Duration(i)*time.Second/2), verified.from(i%1000), rules).IsOverRate {
			passed++
		}
	}
	// 45 requests pass until the average exceeds 1.5 times the rate, then one in ten seconds.
	if passed < 100 || passed > 110 {
		t.Errorf("%d of 1200 passed, want about 45 + 58", passed)
	}
}

// TestImpostors floods a site from 10,000 networks under the name of a verified crawler. The flood
// neither charges nor evicts the budget of the verified crawler.
func TestImpostors(t *testing.T) {
	b, rules := NewBudgets(start), delayRules(10*time.Second)
	at := start
	for i := range 40_000 {
		at = start.Add(time.Duration(i) * 20 * time.Millisecond)
		for _, identity := range []verify.State{verify.Claimed, verify.Spoofed, verify.Unknown} {
			b.ChargeRequest(at, Client{Site: shop, Token: "bingbot", Identity: identity}.from(i%10_000), rules)
		}
		if i%500 == 0 { // one in ten seconds
			if p := b.ChargeRequest(at, verified.from(i), rules); p.IsOverRate || p.Requests > 31 {
				t.Fatalf("after %v: %+v", at.Sub(start), p)
			}
		}
	}
	if p := b.ChargeRequest(at, claimed.from(3), rules); !p.IsOverRate {
		t.Errorf("the claimed crawler is not over the rate: %+v", p)
	}
}

// TestBing sends one request at a random time in each window of the delay, as Bing documents. No
// request is over the rate, for delays up to 30 seconds.
func TestBing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for seconds := 1; seconds <= 30; seconds++ {
		delay := time.Duration(seconds) * time.Second
		for range 5 {
			b, rules, offset := NewBudgets(start), delayRules(delay), time.Duration(random.Int64N(int64(delay)))
			for i := range 2000 {
				at := start.Add(offset + time.Duration(i)*delay + time.Duration(random.Int64N(int64(delay))))
				if p := b.ChargeRequest(at, &verified, rules); p.IsOverRate {
					t.Fatalf("a window of %v, request %d: %+v", delay, i, p)
				}
			}
		}
	}
}

// TestBoundedMemory sends requests with 100,000 invented names, networks and hosts.
func TestBoundedMemory(t *testing.T) {
	b, rules := NewBudgets(start), delayRules(time.Second)
	b.ChargeRequest(start, &verified, rules)
	for i := range 100_000 {
		host := policy.Key{Host: fmt.Sprintf("h%d.example", i)}
		b.ChargeRequest(start, Client{Site: shop, Token: fmt.Sprintf("bot%d", i)}.from(i), rules)
		b.ChargeRequest(start, Client{Site: shop}.from(i), rules)
		b.ChargeRequest(start, Client{Site: &host, Token: "bingbot", Identity: verify.Verified, UnknownHost: true}.from(i), rules)
	}
	if n, most := b.Len(), 2*maxCrawlerBudgets+maxNetworkBudgets+3*maxUnknownHostBudgets; n > most {
		t.Errorf("%d budgets, want at most %d", n, most)
	}
	for range 9 {
		b.ChargeRequest(start, &verified, rules)
	}
	if p := b.ChargeRequest(start, &verified, rules); p.Requests != 11 {
		t.Errorf("the budget of a verified crawler at a configured site was evicted: %+v", p)
	}
}

// TestConfiguredLimit checks that a configured limit is enforced at once, and that the stricter of
// limit and Crawl-delay applies.
func TestConfiguredLimit(t *testing.T) {
	rules := delayRules(time.Second)
	rules.ConfiguredLimit = Rule{Interval: 4 * time.Second, Burst: 2}
	b := NewBudgets(start)
	for i, want := range []Pace{{}, {}, {IsOverRate: true, IsOverLimit: true, Wait: 4 * time.Second}, {IsOverRate: true, IsOverLimit: true, Wait: 4 * time.Second}} {
		if got := b.ChargeRequest(start, &verified, rules); got != want {
			t.Errorf("request %d: %+v, want %+v", i+1, got, want)
		}
	}
	if p := b.ChargeRequest(start.Add(3*time.Second), &verified, rules); p.Wait != time.Second {
		t.Errorf("after 3 seconds: %+v", p)
	}
	if p := b.ChargeRequest(start.Add(4*time.Second), &verified, rules); p.IsOverRate {
		t.Errorf("after 4 seconds: %+v", p)
	}
}

// TestWaitIsSufficient checks that a request after Wait is within the rate.
func TestWaitIsSufficient(t *testing.T) {
	b, at, refused := NewBudgets(start), start, 0
	rules := delayRules(7 * time.Second)
	rules.ConfiguredLimit = Rule{Interval: 3 * time.Second, Burst: 4}
	for range 5000 {
		p := b.ChargeRequest(at, &verified, rules)
		if !p.IsOverRate {
			at = at.Add(100 * time.Millisecond)
			continue
		}
		refused++
		at = at.Add(p.Wait)
		if p := b.ChargeRequest(at, &verified, rules); p.IsOverRate {
			t.Fatalf("the request after the wait must wait %v more", p.Wait)
		}
	}
	if refused == 0 {
		t.Error("no request was over the rate")
	}
}

// TestNoRules checks that rules without a limit add no budget.
func TestNoRules(t *testing.T) {
	b := NewBudgets(start)
	for range 1000 {
		if p := b.ChargeRequest(start, &verified, new(Rules)); p != (Pace{}) {
			t.Fatal(p)
		}
	}
	if b.Len() != 0 {
		t.Errorf("%d budgets", b.Len())
	}
}

// TestRunByManyHasNoSharedBudget checks that users of a feed reader in different networks do not
// share a budget.
func TestRunByManyHasNoSharedBudget(t *testing.T) {
	b, rules := NewBudgets(start), &Rules{ConfiguredLimit: Rule{Interval: time.Minute, Burst: 10}, Window: 5 * time.Minute}
	reader := Client{Site: shop, Token: "FreshRSS", Identity: verify.Claimed, IsSharedSoftware: true}
	for i := range 20 {
		for range 10 {
			if p := b.ChargeRequest(start, reader.from(i), rules); p.IsOverRate {
				t.Fatalf("in network %d: %+v", i, p)
			}
		}
		if !b.ChargeRequest(start, reader.from(i), rules).IsOverRate {
			t.Fatalf("network %d has no limit", i)
		}
	}
}

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
	shop  = &policy.Key{Site: "shop.example", Secure: true, Host: "shop.example"}
)

// asking returns the rules of a Crawl-delay with the defaults.
func asking(delay time.Duration) *Rules {
	return &Rules{CrawlDelay: Rule{Interval: delay, Burst: 10}, Tolerance: 1.5, Window: 5 * time.Minute}
}

// network returns the n-th of many networks.
func network(n int) netip.Prefix {
	return addr.Network(netip.AddrFrom4([4]byte{byte(10 + n>>16), byte(n >> 8), byte(n), 7}))
}

func (s Client) from(n int) *Client { s.Network = network(n); return &s }

var (
	verified = Client{Site: shop, Token: "bingbot", Identity: verify.Verified}
	claimed  = Client{Site: shop, Token: "bingbot", Identity: verify.Claimed}
)

// TestWhose tells who spends from one budget and who does not.
func TestWhose(t *testing.T) {
	other, plain := *shop, *shop
	other.Host, plain.Secure = "www.shop.example", false
	forwarded, source := *shop, *shop
	forwarded.ForwardedHost, source.Source = "b.example", "https://c.example/robots.txt"
	for _, tc := range []struct {
		name        string
		first, then Client
		shared      bool
	}{
		{"a verified crawler from another network", verified, *verified.from(9), true},
		{"a verified crawler and who claims to be it", claimed, verified, false},
		{"a verified crawler and who is known not to be it", Client{Site: shop, Token: "bingbot", Identity: verify.Spoofed}, verified, false},
		{"another crawler", verified, Client{Site: shop, Token: "CCBot", Identity: verify.Verified}, false},
		{"another host", verified, Client{Site: &other, Token: "bingbot", Identity: verify.Verified}, false},
		{"another scheme", verified, Client{Site: &plain, Token: "bingbot", Identity: verify.Verified}, false},
		{"a proxy that was asked for another host", verified, Client{Site: &forwarded, Token: "bingbot", Identity: verify.Verified}, false},
		{"another source", verified, Client{Site: &source, Token: "bingbot", Identity: verify.Verified}, false},
		{"the same host, invented", verified, Client{Site: shop, Token: "bingbot", Identity: verify.Verified, UnknownHost: true}, false},
		{"who claims a name, from another network", claimed, *claimed.from(9), true},
		{"who claims a name that is not looked up yet", claimed, Client{Site: shop, Token: "bingbot", Identity: verify.Unknown}, true},
		{"who claims another name, from the same network", claimed, Client{Site: shop, Token: "CCBot", Identity: verify.Claimed}, false},
		{"two names that nobody knows, from one network", *Client{Site: shop}.from(1), *Client{Site: shop}.from(1), true},
		{"names that nobody knows, from two networks", *Client{Site: shop}.from(1), *Client{Site: shop}.from(2), false},
		{"false names from one network", *Client{Site: shop, Token: "a", Identity: verify.Spoofed}.from(1), *Client{Site: shop, Token: "b", Identity: verify.Spoofed}.from(1), true},
	} {
		b := NewBudgets(start)
		rules := &Rules{Configured: Rule{Interval: time.Minute, Burst: 1}}
		if b.Spend(start, &tc.first, rules).Over {
			t.Fatalf("%s: the first request is one too many", tc.name)
		}
		if got := b.Spend(start, &tc.then, rules).Over; got != tc.shared {
			t.Errorf("%s: over %v, want %v", tc.name, got, tc.shared)
		}
	}
}

// TestWhoseNetworks tries networks and limits that are nearly the same as numbers.
func TestWhoseNetworks(t *testing.T) {
	four, six := netip.MustParsePrefix("203.7.0.0/24"), netip.MustParsePrefix("2800:ffff:cb07::/48")
	first, then := claimed, claimed
	first.Network, then.Network, first.RunByMany, then.RunByMany = six, four, true, true
	b, rules := NewBudgets(start), &Rules{Configured: Rule{Interval: time.Minute, Burst: 1}}
	b.Spend(start, &first, rules)
	if b.Spend(start, &then, rules).Over {
		t.Errorf("%v spends what %v has", six, four)
	}
	for i := range 32 {
		host := fmt.Sprint(i, ".example")
		plain, secure := &policy.Key{Site: host, Host: host}, &policy.Key{Site: host, Host: host, Secure: true}
		b.Spend(start, &Client{Site: plain, Token: "bingbot", Identity: verify.Verified}, &Rules{Configured: Rule{Interval: time.Minute, Burst: 4}})
		b.Spend(start, &Client{Site: secure, Token: "bingbot", Identity: verify.Verified}, &Rules{Configured: Rule{Interval: time.Minute, Burst: 5}})
	}
	if got := b.configuredHosts.verified.len(); got != 2*32 {
		t.Errorf("%d sites with limits of their own share %d budgets", 2*32, got)
	}
}

// TestAThousandAddresses has a verified crawler come from 1,000 networks: all of its
// requests are one budget.
func TestAThousandAddresses(t *testing.T) {
	b, rules := NewBudgets(start), asking(10*time.Second)
	passed := 0
	for i := range 10 * 60 * 2 { // ten minutes, two requests a second
		if !b.Spend(start.Add(time.Duration(i)*time.Second/2), verified.from(i%1000), rules).Over {
			passed++
		}
	}
	// 45 until it is clear that it is more than 1.5 times too fast, then one in ten
	// seconds.
	if passed < 100 || passed > 110 {
		t.Errorf("%d of 1200 passed, want about 45 + 58", passed)
	}
}

// TestImpostors floods a site from 10,000 networks under the name of a crawler whose
// own requests are verified: nothing of that is spent or forgotten.
func TestImpostors(t *testing.T) {
	b, rules := NewBudgets(start), asking(10*time.Second)
	at := start
	for i := range 40_000 {
		at = start.Add(time.Duration(i) * 20 * time.Millisecond)
		for _, identity := range []verify.State{verify.Claimed, verify.Spoofed, verify.Unknown} {
			b.Spend(at, Client{Site: shop, Token: "bingbot", Identity: identity}.from(i%10_000), rules)
		}
		if i%500 == 0 { // one in ten seconds
			if p := b.Spend(at, verified.from(i), rules); p.Over || p.Requests > 31 {
				t.Fatalf("after %v: %+v", at.Sub(start), p)
			}
		}
	}
	if p := b.Spend(at, claimed.from(3), rules); !p.Over {
		t.Errorf("of those who claim to be it: %+v", p)
	}
}

// TestBing keeps delays of up to 30 seconds as Bing says it does: as windows in each
// of which one fetch falls anywhere. It is never too fast.
func TestBing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for seconds := 1; seconds <= 30; seconds++ {
		delay := time.Duration(seconds) * time.Second
		for range 5 {
			b, rules, offset := NewBudgets(start), asking(delay), time.Duration(random.Int64N(int64(delay)))
			for i := range 2000 {
				at := start.Add(offset + time.Duration(i)*delay + time.Duration(random.Int64N(int64(delay))))
				if p := b.Spend(at, &verified, rules); p.Over {
					t.Fatalf("a window of %v, request %d: %+v", delay, i, p)
				}
			}
		}
	}
}

// TestBounded invents 100,000 names, networks and hosts.
func TestBounded(t *testing.T) {
	b, rules := NewBudgets(start), asking(time.Second)
	b.Spend(start, &verified, rules)
	for i := range 100_000 {
		host := policy.Key{Host: fmt.Sprintf("h%d.example", i)}
		b.Spend(start, Client{Site: shop, Token: fmt.Sprintf("bot%d", i)}.from(i), rules)
		b.Spend(start, Client{Site: shop}.from(i), rules)
		b.Spend(start, Client{Site: &host, Token: "bingbot", Identity: verify.Verified, UnknownHost: true}.from(i), rules)
	}
	if n, most := b.Len(), 2*maxCrawlers+maxNetworks+3*maxUnknown; n > most {
		t.Errorf("%d budgets, want at most %d", n, most)
	}
	for range 9 {
		b.Spend(start, &verified, rules)
	}
	if p := b.Spend(start, &verified, rules); p.Requests != 11 {
		t.Errorf("the budget of a verified crawler at a configured site was put out: %+v", p)
	}
}

// TestOwner holds a limit that the owner has set to count at once, and the stricter of
// it and the file's to hold.
func TestOwner(t *testing.T) {
	rules := asking(time.Second)
	rules.Configured = Rule{Interval: 4 * time.Second, Burst: 2}
	b := NewBudgets(start)
	for i, want := range []Pace{{}, {}, {Over: true, OverLimit: true, Wait: 4 * time.Second}, {Over: true, OverLimit: true, Wait: 4 * time.Second}} {
		if got := b.Spend(start, &verified, rules); got != want {
			t.Errorf("request %d: %+v, want %+v", i+1, got, want)
		}
	}
	if p := b.Spend(start.Add(3*time.Second), &verified, rules); p.Wait != time.Second {
		t.Errorf("after 3 seconds: %+v", p)
	}
	if p := b.Spend(start.Add(4*time.Second), &verified, rules); p.Over {
		t.Errorf("after 4 seconds: %+v", p)
	}
}

// TestWaitIsEnough asks again when it was told to: that is never one too many.
func TestWaitIsEnough(t *testing.T) {
	b, at, refused := NewBudgets(start), start, 0
	rules := asking(7 * time.Second)
	rules.Configured = Rule{Interval: 3 * time.Second, Burst: 4}
	for range 5000 {
		p := b.Spend(at, &verified, rules)
		if !p.Over {
			at = at.Add(100 * time.Millisecond)
			continue
		}
		refused++
		at = at.Add(p.Wait)
		if p := b.Spend(at, &verified, rules); p.Over {
			t.Fatalf("it waited, and is told to wait %v more", p.Wait)
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
}

// TestNothingAsked spends nothing where nothing is asked.
func TestNothingAsked(t *testing.T) {
	b := NewBudgets(start)
	for range 1000 {
		if p := b.Spend(start, &verified, new(Rules)); p != (Pace{}) {
			t.Fatal(p)
		}
	}
	if b.Len() != 0 {
		t.Errorf("%d budgets", b.Len())
	}
}

// TestManyShareNoBudget has many run what has a name, such as a feed reader: nobody
// spends what somebody else in another network has.
func TestManyShareNoBudget(t *testing.T) {
	b, rules := NewBudgets(start), &Rules{Configured: Rule{Interval: time.Minute, Burst: 10}, Window: 5 * time.Minute}
	reader := Client{Site: shop, Token: "FreshRSS", Identity: verify.Claimed, RunByMany: true}
	for i := range 20 {
		for range 10 {
			if p := b.Spend(start, reader.from(i), rules); p.Over {
				t.Fatalf("in network %d: %+v", i, p)
			}
		}
		if !b.Spend(start, reader.from(i), rules).Over {
			t.Fatalf("network %d has no end", i)
		}
	}
}

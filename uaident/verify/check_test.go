package verify

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func writeFile(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ranges.txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// honestDNS contains the addresses of the genuine crawler, 192.0.2.1 and 2001:db8::1, and records
// of spoofed clients.
func honestDNS() *fakeDNS {
	return &fakeDNS{
		ptr: map[string][]string{
			"192.0.2.1":     {"crawl-1.bot.example.com."},
			"2001:db8::1":   {"Crawl-6.BOT.example.com."},
			"192.0.2.2":     {"a.crawl.example.net"},
			"203.0.113.1":   {"crawl-1.bot.example.com."},      // the name resolves to another address
			"203.0.113.2":   {"x.bot.example.com.evil.test."},  // the domain is not at the end
			"203.0.113.3":   {"x.fakebot.example.com."},        // not at the boundary of a label
			"203.0.113.4":   {"xbot.example.com."},             // not at the boundary of a label
			"203.0.113.5":   {"bot.example.com."},              // the domain itself
			"203.0.113.6":   {"nowhere.bot.example.com."},      // the name does not exist
			"203.0.113.7":   {"slow.bot.example.com."},         // the lookup of the name fails
			"198.51.100.44": {"host.isp.test.", "x.isp.test."}, // names outside of the domains
		},
		addrs: map[string][]string{
			"crawl-1.bot.example.com":     {"192.0.2.9", "192.0.2.1"},
			"crawl-6.bot.example.com":     {"2001:db8::1"},
			"a.crawl.example.net":         {"192.0.2.2"},
			"x.bot.example.com.evil.test": {"203.0.113.2"},
			"x.fakebot.example.com":       {"203.0.113.3"},
			"xbot.example.com":            {"203.0.113.4"},
			"bot.example.com":             {"203.0.113.5"},
			"host.isp.test":               {"198.51.100.44"},
		},
		fails: map[string]error{
			"198.51.100.1":         errors.New("server misbehaving"),
			"slow.bot.example.com": errors.New("i/o timeout"),
		},
	}
}

func TestReverseDNSDecides(t *testing.T) {
	v := configured(t, Options{Resolver: honestDNS()}, Config{Crawlers: crawlers(), ReverseDNS: true})
	for _, tc := range []struct {
		crawler *uaident.Crawler
		addr    string
		want    Finding
	}{
		{&fooBot, "192.0.2.1", Finding{Verified, ReverseDNS}},
		{&fooBot, "::ffff:192.0.2.1", Finding{Verified, ReverseDNS}},
		{&fooBot, "2001:db8::1", Finding{Verified, ReverseDNS}},
		{&fooBot, "2001:db8::1%eth0", Finding{Verified, ReverseDNS}},
		{&fooBot, "192.0.2.2", Finding{Verified, ReverseDNS}}, // confirmed by the second domain
		{&fooImage, "192.0.2.1", Finding{Verified, ReverseDNS}},
		{&fooPreview, "192.0.2.1", Finding{Verified, ReverseDNS}},
		{&fooUser, "192.0.2.1", Finding{Verified, ReverseDNS}},
		{&unsureBot, "192.0.2.1", Finding{Verified, ReverseDNS}},

		{&fooBot, "203.0.113.1", Finding{Spoofed, ReverseDNS}},
		{&fooBot, "203.0.113.2", Finding{Spoofed, ReverseDNS}},
		{&fooBot, "203.0.113.3", Finding{Spoofed, ReverseDNS}},
		{&fooBot, "203.0.113.4", Finding{Spoofed, ReverseDNS}},
		{&fooBot, "203.0.113.5", Finding{Spoofed, ReverseDNS}},
		{&fooBot, "203.0.113.6", Finding{Spoofed, ReverseDNS}},
		{&fooBot, "198.51.100.44", Finding{Spoofed, ReverseDNS}},
		{&fooBot, "198.51.100.45", Finding{Spoofed, ReverseDNS}}, // the address has no name
		{&fooImage, "203.0.113.1", Finding{Spoofed, ReverseDNS}},

		// A failed lookup never makes a client spoofed.
		{&fooBot, "198.51.100.1", Finding{State: Unknown}},
		{&fooBot, "203.0.113.7", Finding{State: Unknown}},
		// Neither does an address of a preview or a user-triggered fetcher, or unsure data.
		{&fooPreview, "203.0.113.1", Finding{State: Claimed}},
		{&fooUser, "203.0.113.1", Finding{State: Claimed}},
		{&unsureBot, "203.0.113.1", Finding{State: Claimed}},
		{&unsureBot, "198.51.100.1", Finding{State: Unknown}},
		// Neither does the address of a proxy.
		{&fooBot, "127.0.0.1", Finding{State: Unknown}},
		{&fooBot, "10.1.2.3", Finding{State: Unknown}},
		{&fooBot, "100.64.0.1", Finding{State: Unknown}},
		{&fooBot, "::1", Finding{State: Unknown}},
		{&fooBot, "fe80::1%eth0", Finding{State: Unknown}},
		{&fooBot, "fd00::1", Finding{State: Unknown}},

		{&plainBot, "192.0.2.1", Finding{State: Claimed}},
		{&copyBot, "192.0.2.1", Finding{State: Claimed}},
		{&uaident.Crawler{Token: "NewBot"}, "192.0.2.1", Finding{State: Claimed}},
		{nil, "192.0.2.1", Finding{State: Claimed}},
	} {
		token := ""
		if tc.crawler != nil {
			token = tc.crawler.Token
		}
		if got := settled(t, v, tc.crawler, tc.addr); got != tc.want {
			t.Errorf("%s from %s is %s by %s, want %s by %s", token, tc.addr, got.State, got.Method, tc.want.State, tc.want.Method)
		}
	}
	if got := v.Check(&fooBot, netip.Addr{}); got != (Finding{State: Unknown}) {
		t.Errorf("zero address: %v", got)
	}
}

func TestRangesAndReverseDNS(t *testing.T) {
	ranges := writeFile(t, "192.0.2.128/25\n2001:db8:1::/48\n10.0.0.0/8\n")
	for _, tc := range []struct {
		name    string
		config  Config
		crawler *uaident.Crawler
		addr    string
		want    Finding
	}{
		{"in the list", Config{Lists: []List{{CrawlerOrOperator: "FooBot", File: ranges}}}, &fooBot, "192.0.2.200", Finding{Verified, Ranges}},
		{"in the list, IPv4-mapped", Config{Lists: []List{{CrawlerOrOperator: "FooBot", File: ranges}}}, &fooBot, "::ffff:192.0.2.200", Finding{Verified, Ranges}},
		{"in the list, IPv6", Config{Lists: []List{{CrawlerOrOperator: "FooBot", File: ranges}}}, &fooBot, "2001:db8:1::7", Finding{Verified, Ranges}},
		{"not in the list", Config{Lists: []List{{CrawlerOrOperator: "FooBot", File: ranges}}}, &fooBot, "192.0.2.1", Finding{Spoofed, Ranges}},
		{"a list by alias", Config{Lists: []List{{CrawlerOrOperator: "fooster", File: ranges}}}, &fooBot, "192.0.2.200", Finding{Verified, Ranges}},
		{"a list by operator", Config{Lists: []List{{CrawlerOrOperator: "foo", File: ranges}}}, &fooPreview, "192.0.2.200", Finding{Verified, Ranges}},
		{"the list of the fallback", Config{Lists: []List{{CrawlerOrOperator: "FooBot", File: ranges}}}, &fooImage, "192.0.2.200", Finding{Verified, Ranges}},
		{"a fallback of another operator", Config{Lists: []List{{CrawlerOrOperator: "FooBot", File: ranges}}}, &copyBot, "192.0.2.200", Finding{}},
		{"the list of another crawler of the operator", Config{Lists: []List{{CrawlerOrOperator: "FooBot", File: ranges}}}, &fooUser, "192.0.2.200", Finding{Verified, Ranges}},
		{"the owner's own bot", Config{Lists: []List{{CrawlerOrOperator: "PlainBot", File: ranges}}}, &plainBot, "10.1.2.3", Finding{Verified, Ranges}},
		{"the owner's own bot from elsewhere", Config{Lists: []List{{CrawlerOrOperator: "PlainBot", File: ranges}}}, &plainBot, "192.0.2.1", Finding{Spoofed, Ranges}},
		{"a private address that the list does not have", Config{Lists: []List{{CrawlerOrOperator: "PlainBot", File: ranges}}}, &plainBot, "192.168.0.1", Finding{State: Unknown}},
		{"a fetcher for people with a list", Config{Lists: []List{{CrawlerOrOperator: "Foo-User", File: ranges}}}, &fooUser, "192.0.2.1", Finding{Spoofed, Ranges}},
		{"a preview with a list", Config{Lists: []List{{CrawlerOrOperator: "FooPreview", File: ranges}}}, &fooPreview, "192.0.2.1", Finding{}},
		{"the owner is sure", Config{Domains: []Domain{{CrawlerOrOperator: "UnsureBot", Suffix: "bot.example.com"}}}, &unsureBot, "203.0.113.1", Finding{Spoofed, ReverseDNS}},
		{"the owner's domain", Config{Domains: []Domain{{CrawlerOrOperator: "PlainBot", Suffix: ".Crawl.Example.NET."}}}, &plainBot, "192.0.2.2", Finding{Verified, ReverseDNS}},

		{"both, by the list", Config{ReverseDNS: true, Lists: []List{{CrawlerOrOperator: "Foo", File: ranges}}}, &fooBot, "192.0.2.200", Finding{Verified, Ranges}},
		{"both, by DNS", Config{ReverseDNS: true, Lists: []List{{CrawlerOrOperator: "Foo", File: ranges}}}, &fooBot, "192.0.2.1", Finding{Verified, ReverseDNS}},
		{"both deny", Config{ReverseDNS: true, Lists: []List{{CrawlerOrOperator: "Foo", File: ranges}}}, &fooBot, "203.0.113.1", Finding{Spoofed, ReverseDNS}},
		{"the list denies, DNS fails", Config{ReverseDNS: true, Lists: []List{{CrawlerOrOperator: "Foo", File: ranges}}}, &fooBot, "198.51.100.1", Finding{State: Unknown}},
		{"all is off", Config{}, &fooBot, "203.0.113.1", Finding{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.config.Crawlers = crawlers()
			v := configured(t, Options{Resolver: honestDNS()}, tc.config)
			if got := settled(t, v, tc.crawler, tc.addr); got != tc.want {
				t.Errorf("%s from %s is %s by %s, want %s by %s", tc.crawler.Token, tc.addr, got.State, got.Method, tc.want.State, tc.want.Method)
			}
		})
	}
}

func TestFirstRequestDoesNotWait(t *testing.T) {
	dns := honestDNS()
	dns.gate = make(chan struct{})
	v := configured(t, Options{Resolver: dns, LookupTimeout: time.Hour}, Config{Crawlers: crawlers(), ReverseDNS: true})
	addr := netip.MustParseAddr("192.0.2.1")
	for range 100 { // during the lookup
		for _, c := range []*uaident.Crawler{&fooBot, &fooImage, &fooPreview} {
			if got := v.Check(c, addr); got != (Finding{State: Unknown}) {
				t.Fatalf("before the lookup: %v", got)
			}
		}
	}
	close(dns.gate)
	eventually(t, "verified", func() bool { return v.Check(&fooBot, addr).State == Verified })
	if got := v.Check(&fooImage, addr); got.State != Verified {
		t.Errorf("another crawler of the operator is %s", got.State)
	}
	if got := dns.count(); got != 2 {
		t.Errorf("DNS was queried %d times, want 2: for the name and the address", got)
	}
}

func TestNoLookupIfListHasAddress(t *testing.T) {
	dns := honestDNS()
	v := configured(t, Options{Resolver: dns}, Config{Crawlers: crawlers(), ReverseDNS: true,
		Lists: []List{{CrawlerOrOperator: "Foo", File: writeFile(t, "192.0.2.0/24")}}})
	if got := v.Check(&fooBot, netip.MustParseAddr("192.0.2.1")); got != (Finding{Verified, Ranges}) {
		t.Errorf("first request: %v", got)
	}
	idle(t, v)
	if got := dns.count(); got != 0 {
		t.Errorf("DNS was queried %d times", got)
	}
}

func TestResultsOverTime(t *testing.T) {
	dns, clock := honestDNS(), newClock()
	v := configured(t, Options{Resolver: dns, Now: clock.Now}, Config{Crawlers: crawlers(), ReverseDNS: true})
	const real, liar, slow = "192.0.2.1", "203.0.113.1", "198.51.100.1"
	check := func(addr string, want State) {
		t.Helper()
		if got := settled(t, v, &fooBot, addr); got.State != want {
			t.Errorf("%s is %s, want %s", addr, got.State, want)
		}
	}
	asks := func(addr string, want bool) {
		t.Helper()
		numQueries := dns.count()
		v.Check(&fooBot, netip.MustParseAddr(addr))
		idle(t, v)
		if got := dns.count() > numQueries; got != want {
			t.Errorf("at %s a request of %s starts a lookup: %t, want %t", clock.Now(), addr, got, want)
		}
	}
	check(real, Verified)
	check(liar, Spoofed)
	check(slow, Unknown)

	for _, minutes := range []time.Duration{1, 2, 4, 5, 5, 5} { // time between attempts
		clock.Add(minutes*time.Minute - time.Second)
		asks(slow, false)
		clock.Add(time.Second)
		asks(slow, true)
	}
	clock.Add(30 * time.Minute) // 52 minutes in total
	asks(real, false)
	clock.Add(time.Minute) // a negative result is rechecked after 52.5 minutes
	asks(liar, true)
	asks(liar, false)
	clock.Add(20 * time.Hour)
	asks(real, false)

	// A verified result is rechecked before it expires. If the recheck fails, the result stays
	// valid until it expires.
	dns.change(func() { dns.fails[real] = errors.New("i/o timeout") })
	clock.Add(time.Hour)
	asks(real, true)
	check(real, Verified)
	clock.Add(2 * time.Hour)
	check(real, Verified)
	clock.Add(time.Hour)
	check(real, Unknown)

	dns.change(func() { delete(dns.fails, real) })
	clock.Add(5 * time.Minute)
	check(real, Verified)
	// The address now belongs to another client.
	dns.change(func() { delete(dns.ptr, real) })
	clock.Add(22 * time.Hour)
	check(real, Spoofed)
}

func TestConfigureKeepsResults(t *testing.T) {
	dns := honestDNS()
	config := Config{Crawlers: crawlers(), ReverseDNS: true}
	v := configured(t, Options{Resolver: dns}, config)
	settled(t, v, &fooBot, "192.0.2.1")
	numQueries := dns.count()
	if err := v.Configure(config); err != nil {
		t.Fatal(err)
	}
	if got := v.Check(&fooBot, netip.MustParseAddr("192.0.2.1")); got.State != Verified || dns.count() != numQueries {
		t.Errorf("after the same configuration: %v", got)
	}
	if err := v.Configure(Config{Crawlers: crawlers()}); err != nil {
		t.Fatal(err)
	}
	if got := v.Check(&fooBot, netip.MustParseAddr("192.0.2.1")); got != (Finding{}) {
		t.Errorf("with all methods disabled: %v", got)
	}
	// Results for other domains are ignored.
	config.Domains = []Domain{{CrawlerOrOperator: "FooBot", Suffix: "other.example.org"}}
	if err := v.Configure(config); err != nil {
		t.Fatal(err)
	}
	if got := v.Check(&fooBot, netip.MustParseAddr("192.0.2.1")); got.State != Unknown {
		t.Errorf("with another domain: %v", got)
	}
	idle(t, v)
}

func TestCloseEndsLookups(t *testing.T) {
	dns := honestDNS()
	dns.gate = make(chan struct{})
	v := configured(t, Options{Resolver: dns, LookupTimeout: time.Hour}, Config{Crawlers: crawlers(), ReverseDNS: true})
	v.Check(&fooBot, netip.MustParseAddr("192.0.2.1"))
	v.Close()
	v.Close()
	idle(t, v)
	if got := v.Check(&fooBot, netip.MustParseAddr("192.0.2.1")); got.State != Unknown {
		t.Errorf("after a cancelled lookup: %v", got)
	}
	if s := v.Stats(); s.Running+s.Waiting != 0 || v.results.otherResults.held() != 0 {
		t.Errorf("after Close: %+v", s)
	}
}

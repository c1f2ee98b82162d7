package verify

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Whoever has a reverse zone that never answers well gains nothing by that where a
// list of the operator denies the address; and nobody else loses anything.
func TestMuteZones(t *testing.T) {
	const liar, real = "203.0.113.66", "192.0.2.1" // neither is in the list
	many := make([]string, 70)
	for i := range many {
		many[i] = "x.isp.test."
	}
	list := writeFile(t, "192.0.2.128/25\n2001:db8:1::/48\n")
	withList := Config{ReverseDNS: true, Lists: []List{{For: "Foo", File: list}}}
	misbehaves := errors.New("server misbehaving")
	for _, tc := range []struct {
		name   string
		config Config
		zone   func(*fakeDNS) // what the liar has made of his zone
		crawl  string         // the crawler's token
		addr   string
		want   State // after half an hour of asking
	}{
		{"SERVFAIL", withList, func(d *fakeDNS) { d.fails[liar] = misbehaves }, "FooBot", liar, Spoofed},
		{"70 names", withList, func(d *fakeDNS) { d.ptr[liar] = many }, "FooBot", liar, Spoofed},
		{"20 names of the operator's", withList, func(d *fakeDNS) {
			d.ptr[liar] = slices.Repeat([]string{"crawl-1.bot.example.com."}, 20)
		}, "FooBot", liar, Spoofed},
		{"the operator's own zone fails", withList, func(d *fakeDNS) {
			d.ptr[liar] = []string{"slow.bot.example.com."}
		}, "FooBot", liar, Unknown},
		{"the same beside 70 names", withList, func(d *fakeDNS) {
			d.ptr[liar] = append([]string{"slow.bot.example.com."}, many...)
		}, "FooBot", liar, Unknown},
		{"no list", Config{ReverseDNS: true}, func(d *fakeDNS) { d.fails[liar] = misbehaves }, "FooBot", liar, Unknown},
		{"a preview", withList, func(d *fakeDNS) { d.fails[liar] = misbehaves }, "FooPreview", liar, Unknown},
		{"the DNS as a whole fails", withList, func(d *fakeDNS) { d.down = misbehaves }, "FooBot", liar, Unknown},
		{"the list has the address", withList, func(d *fakeDNS) { d.fails["192.0.2.200"] = misbehaves }, "FooBot", "192.0.2.200", Verified},
		{"a real one that the list lacks", withList, func(*fakeDNS) {}, "FooBot", real, Verified},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dns, clock := honestDNS(), newClock()
			tc.zone(dns)
			tc.config.Crawlers = crawlers()
			v := configured(t, Options{Resolver: dns, Now: clock.Now}, tc.config)
			i := slices.IndexFunc(tc.config.Crawlers, func(c uaident.Crawler) bool { return c.Token == tc.crawl })
			crawler := &tc.config.Crawlers[i]
			for minute := range 30 {
				got := settled(t, v, crawler, tc.addr)
				if got.State == Spoofed && (minute < 10 || tc.want != Spoofed) {
					t.Fatalf("spoofed after %d minutes", minute)
				}
				clock.Add(time.Minute)
			}
			got := settled(t, v, crawler, tc.addr)
			if got.State != tc.want {
				t.Errorf("%s after half an hour, want %s", got.State, tc.want)
			}
			e := v.Explain(t.Context(), crawler, netip.MustParseAddr(tc.addr), false)
			if e.Finding != got {
				t.Errorf("Check says %v, Explain %v", got, e.Finding)
			}
			if said := slices.ContainsFunc(e.Steps, func(s Step) bool { return strings.Contains(s.Text, "has not answered well") }); said != (tc.want == Spoofed) {
				t.Errorf("that it is for the zone is said: %t; %q", said, e.Steps)
			}
		})
	}
}

// A zone that answers well once again is believed, and one that verified the
// address is never held against it.
func TestMuteZonesOverTime(t *testing.T) {
	const addr = "192.0.2.1"
	config := Config{Crawlers: crawlers(), ReverseDNS: true, Lists: []List{{For: "Foo", File: writeFile(t, "192.0.2.128/25\n")}}}
	dns, clock := honestDNS(), newClock()
	v := configured(t, Options{Resolver: dns, Now: clock.Now}, config)
	fails := func() { dns.change(func() { dns.fails[addr] = errors.New("server misbehaving") }) }
	ask := func(minutes int) (got Finding) {
		for range minutes {
			got = settled(t, v, &fooBot, addr)
			clock.Add(time.Minute)
		}
		return got
	}
	fails()
	if got := ask(30); got.State != Spoofed {
		t.Fatalf("%s after half an hour", got.State)
	}
	dns.change(func() { delete(dns.fails, addr) })
	if got := ask(6); got.State != Verified {
		t.Errorf("%s although the zone answers", got.State)
	}
	clock.Add(21 * time.Hour)
	fails()
	if got := ask(6 * 60); got.State != Unknown {
		t.Errorf("%s after a zone has failed that verified it before", got.State)
	}

	// The failures of long ago do not count.
	const rare = "203.0.113.66"
	dns.change(func() { dns.fails[rare] = errors.New("server misbehaving") })
	for range 20 {
		if got := settled(t, v, &fooBot, rare); got.State != Unknown {
			t.Fatalf("%s by failures of every two hours", got.State)
		}
		clock.Add(2 * time.Hour)
	}
}

// The question that tells whether the DNS answers at all is about an address of
// the operator's list.
func TestSomeAddress(t *testing.T) {
	config := Config{Crawlers: crawlers(), Lists: []List{{For: "Foo", File: writeFile(t, "192.0.2.128/25\n2001:db8:1::/48\n198.51.100.7/32\n")}}}
	v := configured(t, Options{}, config)
	lists := v.setup.Load().plans["FooBot"].lists
	seen := map[netip.Addr]bool{}
	for _, like := range []string{"203.0.113.1", "2001:db8:9::1"} {
		for range 200 {
			addr := someAddress(lists, netip.MustParseAddr(like))
			if !lists[0].loaded.Load().contains(addr) {
				t.Fatalf("%s is not in the list", addr)
			}
			seen[addr] = true
		}
	}
	if len(seen) < 50 {
		t.Errorf("%d addresses in 400", len(seen))
	}
	if addr := someAddress(nil, netip.MustParseAddr("203.0.113.1")); addr.IsValid() {
		t.Errorf("%s of no list", addr)
	}
}

package verify

import (
	"net/netip"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// BenchmarkCheck measures a check with a cached result.
func BenchmarkCheck(b *testing.B) {
	list := ""
	for i := range 2000 {
		list += netip.PrefixFrom(invented(i*7), 27).Masked().String() + "\n"
	}
	entries := append(uaident.Default().Crawlers(), crawlers()...)
	v := configured(b, Options{Resolver: honestDNS()}, Config{Crawlers: entries, ReverseDNS: true,
		Lists: []List{{CrawlerOrOperator: "FooBot", File: writeFile(b, list)}}})
	for i := range 1000 { // other clients in the cache
		v.Check(&fooPreview, invented(i))
	}
	idle(b, v)
	for _, bc := range []struct {
		name    string
		crawler *uaident.Crawler
		addr    string
		want    State
	}{
		{"claimed", &plainBot, "192.0.2.1", Claimed},
		{"verified by a list", &fooBot, invented(7 * 100).String(), Verified},
		{"verified by DNS", &fooUser, "192.0.2.1", Verified},
		{"verified by DNS after a list", &fooBot, "192.0.2.1", Verified},
		{"spoofed, by list and DNS", &fooBot, "203.0.113.1", Spoofed},
		{"spoofed, IPv6", &fooBot, "2001:db8::bad", Spoofed},
	} {
		b.Run(bc.name, func(b *testing.B) {
			if got := settled(b, v, bc.crawler, bc.addr); got.State != bc.want {
				b.Fatal(got)
			}
			addr := netip.MustParseAddr(bc.addr)
			b.ReportAllocs()
			for b.Loop() {
				v.Check(bc.crawler, addr)
			}
		})
	}
	b.Run("in parallel", func(b *testing.B) {
		addr := netip.MustParseAddr("192.0.2.1")
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				v.Check(&fooBot, addr)
			}
		})
	})
}

// BenchmarkCheckFlood measures a check of a client that is not verified because of too many claims.
func BenchmarkCheckFlood(b *testing.B) {
	dns := honestDNS()
	dns.gate = make(chan struct{})
	v := configured(b, Options{Resolver: dns}, Config{Crawlers: crawlers(), ReverseDNS: true})
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		i++
		v.Check(&fooBot, invented(i))
	}
	close(dns.gate)
	idle(b, v)
}

func BenchmarkRanges(b *testing.B) {
	var list []netip.Prefix
	for i := range 5000 {
		list = append(list, netip.PrefixFrom(invented(i*7), 27).Masked())
	}
	t, err := newPrefixTable(list)
	if err != nil {
		b.Fatal(err)
	}
	for _, bc := range []struct{ name, addr string }{{"in it", invented(7 * 4000).String()}, {"not in it", "203.0.113.9"}} {
		b.Run(bc.name, func(b *testing.B) {
			addr := netip.MustParseAddr(bc.addr)
			b.ReportAllocs()
			for b.Loop() {
				t.contains(addr)
			}
		})
	}
}

func TestCheckDoesNotAllocate(t *testing.T) {
	v := configured(t, Options{Resolver: honestDNS()}, Config{Crawlers: crawlers(), ReverseDNS: true,
		Lists: []List{{CrawlerOrOperator: "FooBot", File: writeFile(t, "198.51.100.0/24")}}})
	for _, addr := range []string{"192.0.2.1", "203.0.113.1", "198.51.100.1", "127.0.0.1", "::ffff:192.0.2.1"} {
		settled(t, v, &fooBot, addr)
		a := netip.MustParseAddr(addr)
		if n := testing.AllocsPerRun(100, func() { v.Check(&fooBot, a) }); n != 0 {
			t.Errorf("%s: %v allocations", addr, n)
		}
	}
}

package strangers

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

var start = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)

// visits counts n requests by a User-Agent, each from another network.
func visits(b *Book, n int, userAgent string, robots bool) {
	id := uaident.Identify(userAgent)
	for i := range n {
		network := netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 51, byte(i), 0}), 24)
		b.Note(Visit{id.Name(), id.Class, userAgent, network, robots, start.Add(time.Duration(i) * time.Minute)})
	}
}

func TestProposals(t *testing.T) {
	b := new(Book)
	visits(b, 4120, "Mozilla/5.0 (compatible; ThinkHarvestBot/1.0; +https://think.test/bot)", false)
	visits(b, 3, "Mozilla/5.0 (compatible; ThinkHarvestBot/1.0; +https://think.test/bot)", true)
	visits(b, 5000, "Quuxle/1.0", false)
	visits(b, MinRequests-1, "RareBot/1.0", false)
	visits(b, 100, "GPTBot/1.3", false)
	all := b.Proposals(uaident.Default())
	var got []string
	for _, p := range all {
		got = append(got, fmt.Sprintf("%s %s %d %d %d", p.Name, p.Class, p.Requests, p.RobotsReads, p.Networks))
	}
	if strings.Join(got, "; ") != "ThinkHarvestBot crawler 4120 3 16; Quuxle other 5000 0 16" {
		t.Errorf("%q", got)
	}
	first := all[0]
	if !first.MoreNetworks || !first.FirstSeen.Equal(start) || !first.LastRead.Equal(start.Add(2*time.Minute)) ||
		!strings.HasPrefix(first.UserAgent, "Mozilla/5.0 (compatible; Think") || !strings.HasPrefix(first.Option, "crawler ThinkHarvestBot {\n\tclass crawler") {
		t.Errorf("%+v", first)
	}
	known, err := uaident.Default().With(uaident.Crawler{Token: "ThinkHarvestBot", Class: uaident.SEO})
	if err != nil {
		t.Fatal(err)
	}
	if left := b.Proposals(known); len(left) != len(all)-1 {
		t.Errorf("%+v", left)
	}
}

// Names that somebody invents by the thousand displace each other, and none that comes
// often.
func TestInventedNames(t *testing.T) {
	b := new(Book)
	for i := range 10_000 {
		visits(b, 1, fmt.Sprintf("Made%dBot/1.0", i), false)
		if i%20 == 0 {
			visits(b, 1, "SteadyBot/1.0", false)
		}
	}
	if all := b.Proposals(uaident.Default()); len(b.names) != maxNames || len(all) > 1 {
		t.Errorf("%d names are kept, %+v are proposed", len(b.names), all)
	}
}

func TestPlainNames(t *testing.T) {
	for name, want := range map[string]bool{
		"FooBot": true, "Foo web spider": true, "archive.org_bot": true, "Yahoo! Slurp": true, "": false, " Foo": false, "Foo ": false, "12": false,
		"Foo{x}": false, "Foo\"": false, "Foo\n": false, "Foo`": false, "Fóo": false, "-Foo": false, strings.Repeat("a", 65): false,
	} {
		if got := isPlain(name); got != want {
			t.Errorf("isPlain(%q) is %v", name, got)
		}
	}
}

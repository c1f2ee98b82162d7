package registry

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

var start = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)

// visits counts n requests by a User-Agent, each from another network.
func visits(b *UnregisteredNames, n int, userAgent string, robots bool) {
	id := uaident.Identify(userAgent)
	for i := range n {
		network := netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 51, byte(i), 0}), 24)
		b.Record(UnregisteredRequest{id.Name(), id.Class, userAgent, network, robots, start.Add(time.Duration(i) * time.Minute)})
	}
}

func TestProposals(t *testing.T) {
	b := new(UnregisteredNames)
	visits(b, 4120, "Mozilla/5.0 (compatible; ThinkHarvestBot/1.0; +https://think.test/bot)", false)
	visits(b, 3, "Mozilla/5.0 (compatible; ThinkHarvestBot/1.0; +https://think.test/bot)", true)
	visits(b, 5000, "Quuxle/1.0", false)
	visits(b, minRequests-1, "RareBot/1.0", false)
	visits(b, 100, "GPTBot/1.3", false)
	all := b.Proposals(uaident.Default())
	var got []string
	for _, p := range all {
		got = append(got, fmt.Sprintf("%s %s %d %d", p.Name, p.Class, p.Requests, p.RobotsFetches))
		if p.Networks < 230 || p.Networks > 280 {
			t.Errorf("%s came from %d networks, want about 256", p.Name, p.Networks)
		}
	}
	if strings.Join(got, "; ") != "ThinkHarvestBot crawler 4120 3; Quuxle other 5000 0" {
		t.Errorf("%q", got)
	}
	first := all[0]
	if !first.FirstSeen.Equal(start) || !first.LastRobotsFetch.Equal(start.Add(2*time.Minute)) ||
		!strings.HasPrefix(first.UserAgent, "Mozilla/5.0 (compatible; Think") || !strings.HasPrefix(first.Option, "crawler ThinkHarvestBot {\n\tclass crawler") {
		t.Errorf("%+v", first)
	}
	known, err := uaident.Default().WithCrawlers(uaident.Crawler{Token: "ThinkHarvestBot", Class: uaident.SEO})
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
	b := new(UnregisteredNames)
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
		if got := isCaddyfileName(name); got != want {
			t.Errorf("isPlain(%q) is %v", name, got)
		}
	}
}

// TestTheRarestMakesRoom compares with looking through all of them.
func TestTheRarestMakesRoom(t *testing.T) {
	var b UnregisteredNames
	dice := rand.New(rand.NewPCG(1, 2))
	counts := make(map[string]uint64)
	for i := range 20_000 {
		name := fmt.Sprint("Name", int(math.Abs(dice.NormFloat64()*60)))
		if counts[name]++; counts[name] == 1 && len(counts) > maxNames {
			delete(counts, name)
			least := uint64(math.MaxUint64)
			for _, n := range counts {
				least = min(least, n)
			}
			b.Record(UnregisteredRequest{Name: name, Class: uaident.Other, Time: time.Unix(int64(i), 0)})
			if got := b.names[name]; got == nil || got.count != least+1 || got.countError != least || len(b.names) != maxNames {
				t.Fatalf("visit %d: %+v, want %d with an error of %d", i, got, least+1, least)
			}
			for other := range counts { // whoever of the rarest it was
				if b.names[other] == nil {
					if counts[other] != least {
						t.Fatalf("visit %d: %s made room, which came %d times and not %d", i, other, counts[other], least)
					}
					delete(counts, other)
				}
			}
			counts[name] = least + 1
			continue
		}
		b.Record(UnregisteredRequest{Name: name, Class: uaident.Other, Time: time.Unix(int64(i), 0)})
		if got := b.names[name].count; got != counts[name] {
			t.Fatalf("visit %d: %s came %d times, want %d", i, name, got, counts[name])
		}
	}
}

// TestWhoMakesRoomLeavesNothing has a name from one network take the place of one from many.
func TestWhoMakesRoomLeavesNothing(t *testing.T) {
	var b UnregisteredNames
	for i := range maxNames {
		for network := range 5 {
			b.Record(UnregisteredRequest{Name: fmt.Sprint("Name", i), Class: uaident.GenericCrawler, Network: netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, byte(network), 0}), 24), IsRobotsFetch: true, Time: start})
		}
	}
	b.Record(UnregisteredRequest{Name: "Newcomer", Class: uaident.Other, UserAgent: "Newcomer/1.0", Network: netip.MustParsePrefix("198.51.100.0/24"), Time: start.Add(time.Hour)})
	if s := b.names["Newcomer"]; s.networks.estimate() != 1 || s.robotsFetches != 0 || !s.lastRobotsFetch.IsZero() || s.class != uaident.Other || s.firstSeen != start.Add(time.Hour) || s.userAgent != "Newcomer/1.0" {
		t.Errorf("%+v", s)
	}
}

func BenchmarkNote(b *testing.B) {
	for _, names := range []int{10, 1000} {
		b.Run(fmt.Sprint(names, " names"), func(b *testing.B) {
			var counts UnregisteredNames
			visits := make([]UnregisteredRequest, names)
			for i := range visits {
				visits[i] = UnregisteredRequest{Name: fmt.Sprint("Name", i), Class: uaident.GenericCrawler, UserAgent: fmt.Sprint("Name", i, "/1.0"), Time: time.Unix(0, 0)}
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				counts.Record(visits[i%names])
			}
		})
	}
}

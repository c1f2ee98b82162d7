package verify

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// floodDNS is a Resolver that needs 20 ms for each query. It contains the genuine crawlers:
// 192.0.2.0/24 and 100 networks in 198.0.0.0/8. It never responds for addresses for which hangs
// returns true.
type floodDNS struct{ hangs func(netip.Addr) bool }

const (
	realSuffix  = ".bot.example.com"
	otherSuffix = ".bar.example.org"
)

// realAddress returns the address of the i-th genuine crawler.
func realAddress(i int, inOneNetwork bool) netip.Addr {
	if inOneNetwork {
		return netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})
	}
	return netip.AddrFrom4([4]byte{198, 200, byte(i), 7})
}

func isReal(addr netip.Addr) bool {
	return netip.MustParsePrefix("192.0.2.0/24").Contains(addr) || netip.MustParsePrefix("198.200.0.0/16").Contains(addr)
}

func (f *floodDNS) wait(ctx context.Context, addr netip.Addr) error {
	takes := 20 * time.Millisecond
	if f.hangs(addr) {
		takes = time.Hour
	}
	select {
	case <-time.After(takes):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *floodDNS) LookupPTR(ctx context.Context, addr netip.Addr) ([]string, error) {
	if err := f.wait(ctx, addr); err != nil {
		return nil, err
	}
	if !isReal(addr) {
		return nil, ErrNoName
	}
	name := strings.ReplaceAll(addr.String(), ".", "-")
	return []string{name + realSuffix, name + otherSuffix}, nil
}

func (f *floodDNS) LookupAddr(ctx context.Context, name string, like netip.Addr) ([]netip.Addr, error) {
	if err := f.wait(ctx, like); err != nil {
		return nil, err
	}
	return []netip.Addr{like}, nil
}

// TestFloods checks that genuine crawlers are verified quickly while other clients cause lookups.
func TestFloods(t *testing.T) {
	other := uaident.Crawler{Token: "BarBot", Operator: "Bar", Class: uaident.Search, Verification: uaident.Verification{RDNS: []string{otherSuffix}}}
	never := func(netip.Addr) bool { return false }
	spoofed := func(addr netip.Addr) bool { return !isReal(addr) }
	for _, tc := range []struct {
		name    string
		spoofed func(i int) netip.Addr // address of the i-th spoofed client
		hangs   func(netip.Addr) bool
		claims  *uaident.Crawler // crawler that the genuine clients claim
		within  time.Duration
		shared  time.Duration // maximum time if all genuine clients are in one network, which has the share of one network; 0 for no maximum
	}{
		{"no other clients", nil, never, &fooBot, time.Second, time.Second},
		{"one IPv6 /64", oneNetwork6, never, &fooBot, 2 * time.Second, 2 * time.Second},
		{"one /24 with a zone that does not respond", oneNetwork4, spoofed, &fooBot, 2 * time.Second, 2 * time.Second},
		{"one IPv6 /64 with a zone that does not respond", oneNetwork6, spoofed, &fooBot, 2 * time.Second, 2 * time.Second},
		{"ten networks", networksOf(10), never, &fooBot, 2 * time.Second, 2 * time.Second},
		{"ten networks with zones that do not respond", networksOf(10), spoofed, &fooBot, 2 * time.Second, 2 * time.Second},
		{"ten networks, half with zones that do not respond", networksOf(10), func(addr netip.Addr) bool { return spoofed(addr) && addr.As4()[2]%2 == 0 }, &fooBot, 2 * time.Second, 2 * time.Second},
		{"twenty networks", networksOf(20), never, &fooBot, 2 * time.Second, 0},
		{"a hundred networks", networksOf(100), never, &fooBot, 5 * time.Second, 0},
		{"a network for each claim, genuine crawlers of another operator", invented, never, &other, 2 * time.Second, 2 * time.Second},
	} {
		for _, inOneNetwork := range []bool{false, true} {
			if inOneNetwork && tc.shared == 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s, genuine crawlers in one network %t", tc.name, inOneNetwork), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					within := tc.within
					if inOneNetwork {
						within = tc.shared
					}
					v := configured(t, Options{Resolver: &floodDNS{tc.hangs}}, Config{Crawlers: append(crawlers(), other), ReverseDNS: true})
					const numGenuine, step, warmUp = 40, 2 * time.Millisecond, 10 * time.Second
					verified, last := 0, time.Duration(-1)
					done := make([]bool, numGenuine)
					for at := time.Duration(0); at < warmUp+10*time.Second && verified < numGenuine; at += step {
						if tc.spoofed != nil { // 500 requests a second
							v.Check(&fooBot, tc.spoofed(int(at/step)))
						}
						for i := range done { // each client sends ten requests a second
							if since := at - warmUp; since < 0 || done[i] || since%(100*time.Millisecond) != time.Duration(i)*step {
								continue
							}
							if f := v.Check(tc.claims, realAddress(i, inOneNetwork)); f.State == Verified {
								done[i], last = true, at-warmUp
								verified++
							} else if f.State != Unknown {
								t.Fatalf("a genuine crawler is %s", f.State)
							}
						}
						if s := v.Stats(); s.Running > v.options.MaxLookups || s.Waiting > v.options.MaxQueued {
							t.Fatalf("%+v", s)
						}
						time.Sleep(step)
					}
					t.Logf("%d of %d verified, the last after %s", verified, numGenuine, last)
					if verified < numGenuine || last > within {
						t.Errorf("%d of %d were verified, the last after %s, want all within %s", verified, numGenuine, last, within)
					}
				})
			})
		}
	}
}

func oneNetwork6(i int) netip.Addr {
	a := netip.MustParseAddr("2001:db8:6:4::").As16()
	a[8], a[14], a[15] = 1, byte(i>>8), byte(i)
	return netip.AddrFrom16(a)
}

func oneNetwork4(i int) netip.Addr { return netip.AddrFrom4([4]byte{203, 0, 113, byte(i)}) }

// networksOf returns a function that returns addresses of n networks in turn.
func networksOf(n int) func(i int) netip.Addr {
	return func(i int) netip.Addr { return netip.AddrFrom4([4]byte{20, 0, byte(i % n), byte(i / n)}) }
}

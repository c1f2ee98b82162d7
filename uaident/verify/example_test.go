package verify_test

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// dns is a Resolver with one crawler.
type dns struct{}

func (dns) LookupPTR(_ context.Context, addr netip.Addr) ([]string, error) {
	return []string{"crawl-192-0-2-1.googlebot.com."}, nil // any client can claim this name for its own address
}

func (dns) LookupAddr(context.Context, string, netip.Addr) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
}

func ExampleVerifier_Explain() {
	v := verify.New(verify.Options{Resolver: dns{}})
	defer v.Close()
	err := v.Configure(verify.Config{Crawlers: uaident.Default().Crawlers(), ReverseDNS: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	id := uaident.Identify("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)")
	for _, addr := range []string{"192.0.2.1", "203.0.113.7"} {
		e := v.Explain(context.Background(), id.Crawler, netip.MustParseAddr(addr), true)
		fmt.Printf("%s is %s:\n", addr, e.Finding.State)
		for _, step := range e.Steps {
			fmt.Println("-", step.Text)
		}
	}
	// Output:
	// 192.0.2.1 is verified:
	// - The DNS names of 192.0.2.1 are: crawl-192-0-2-1.googlebot.com.
	// - crawl-192-0-2-1.googlebot.com is a subdomain of one of .google.com, .googlebot.com and resolves to 192.0.2.1.
	// - The address belongs to Google, so this is Googlebot.
	// 203.0.113.7 is spoofed:
	// - The DNS names of 203.0.113.7 are: crawl-192-0-2-1.googlebot.com.
	// - crawl-192-0-2-1.googlebot.com is a subdomain of one of .google.com, .googlebot.com, but does not resolve to 203.0.113.7.
	// - The address belongs to no crawler of Google, so this is not Googlebot.
}

package verify

import (
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func TestConfigFails(t *testing.T) {
	good := writeFile(t, "192.0.2.0/24")
	for _, tc := range []struct {
		name   string
		config Config
		want   string
	}{
		{"no source", Config{Lists: []List{{CrawlerOrOperator: "FooBot"}}}, "either a file or a URL"},
		{"two sources", Config{Lists: []List{{CrawlerOrOperator: "FooBot", File: good, URL: "https://example.com/"}}}, "either a file or a URL"},
		{"http", Config{Lists: []List{{CrawlerOrOperator: "FooBot", URL: "http://example.com/"}}}, "not an https URL"},
		{"file URL", Config{Lists: []List{{CrawlerOrOperator: "FooBot", URL: "file:///etc/passwd"}}}, "not an https URL"},
		{"no host", Config{Lists: []List{{CrawlerOrOperator: "FooBot", URL: "https:///x"}}}, "not an https URL"},
		{"user name", Config{Lists: []List{{CrawlerOrOperator: "FooBot", URL: "https://a:b@example.com/"}}}, "not an https URL"},
		{"no URL", Config{Lists: []List{{CrawlerOrOperator: "FooBot", URL: "https://exa mple.com/"}}}, "FooBot"},
		{"a list for nobody", Config{Lists: []List{{CrawlerOrOperator: "Nobody", File: good}}}, `"Nobody"`},
		{"a list for an empty name", Config{Lists: []List{{File: good}}}, `""`},
		{"no such file", Config{Lists: []List{{CrawlerOrOperator: "FooBot", File: filepath.Join(t.TempDir(), "none")}}}, "none: file not found; correct the path"},
		{"a folder", Config{Lists: []List{{CrawlerOrOperator: "FooBot", File: t.TempDir()}}}, "address list"},
		{"a bad file", Config{Lists: []List{{CrawlerOrOperator: "FooBot", File: writeFile(t, "192.0.2.1\nx")}}}, "line 2"},
		{"everybody", Config{Lists: []List{{CrawlerOrOperator: "FooBot", File: writeFile(t, "0.0.0.0/0")}}}, "wide"},
		{"a top-level domain", Config{Domains: []Domain{{CrawlerOrOperator: "FooBot", Suffix: ".com"}}}, "two labels"},
		{"no domain", Config{Domains: []Domain{{CrawlerOrOperator: "FooBot", Suffix: "*.example.com"}}}, "not a domain name"},
		{"an empty domain", Config{Domains: []Domain{{CrawlerOrOperator: "FooBot", Suffix: "."}}}, "not a domain name"},
		{"two dots", Config{Domains: []Domain{{CrawlerOrOperator: "FooBot", Suffix: "..example.com"}}}, "not a domain name"},
		{"a domain for nobody", Config{Domains: []Domain{{CrawlerOrOperator: "Nobody", Suffix: "example.com"}}}, `"Nobody"`},
		{"a DNS server by name", Config{DNSServer: "dns.example.com"}, "DNS server"},
		{"port 0", Config{DNSServer: "192.0.2.53:0"}, "DNS server"},
	} {
		v := configured(t, Options{Resolver: honestDNS()}, Config{Crawlers: crawlers(), Lists: []List{{CrawlerOrOperator: "PlainBot", File: good}}})
		tc.config.Crawlers = crawlers()
		if err := v.Configure(tc.config); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want an error with %q", tc.name, err, tc.want)
		}
		if got := v.Check(&plainBot, netip.MustParseAddr("192.0.2.1")); got.State != Verified {
			t.Errorf("%s: the configuration changed despite the error: %v", tc.name, got)
		}
	}
}

func TestDNSServerAddress(t *testing.T) {
	for given, want := range map[string]string{
		"": "", "192.0.2.53": "192.0.2.53:53", "192.0.2.53:5353": "192.0.2.53:5353",
		"2001:db8::53": "[2001:db8::53]:53", "[2001:db8::53]": "[2001:db8::53]:53", "[2001:db8::53]:5353": "[2001:db8::53]:5353",
	} {
		if got, err := serverAddress(given); got != want || err != nil {
			t.Errorf("%q: %q, %v; want %q", given, got, err, want)
		}
	}
}

// TestRegistryCanBeUsed configures a verifier with the built-in registry.
func TestRegistryCanBeUsed(t *testing.T) {
	entries := uaident.Default().Crawlers()
	v := configured(t, Options{Resolver: honestDNS()}, Config{Crawlers: entries, Ranges: true, ReverseDNS: true})
	s := v.activeConfig.Load()
	has := func(c *uaident.Crawler) bool {
		return len(c.Verification.Ranges)+len(c.Verification.PartialRanges)+len(c.Verification.RDNS) > 0
	}
	published := map[string]bool{} // by operator
	for i := range entries {
		if c := &entries[i]; sharesOperatorAddresses(c) && has(c) {
			published[c.Operator] = true
		}
	}
	for i := range entries {
		c := &entries[i]
		p := s.plans[c.Token]
		if want := has(c) || sharesOperatorAddresses(c) && published[c.Operator]; want != (p != nil) {
			t.Errorf("%s can be verified: %t, want %t", c.Token, p != nil, want)
		}
		if p != nil && p.deniesUnverified && (c.Class == uaident.Preview || c.Verification.IsThirdParty || len(c.Verification.Ranges)+len(c.Verification.RDNS) == 0) {
			t.Errorf("clients with the name %s can be spoofed", c.Token)
		}
	}
	google, image := s.plans["Googlebot"], s.plans["Googlebot-Image"]
	if google == nil || image == nil || google.scope != image.scope || !google.deniesUnverified {
		t.Error("Googlebot and Googlebot-Image do not share lookups")
	}
	if len(v.Lists()) < 15 {
		t.Errorf("%d lists", len(v.Lists()))
	}
}

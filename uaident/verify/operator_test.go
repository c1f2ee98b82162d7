package verify

import (
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Crawlers of one operator with different methods.
var (
	barBot     = uaident.Crawler{Token: "BarBot", Operator: "Bar", Class: uaident.Search, Verification: uaident.Verification{RDNS: []string{".bot.example.com"}}}
	barAds     = uaident.Crawler{Token: "BarAds", Operator: "Bar", Class: uaident.Ads, Verification: uaident.Verification{RDNS: []string{".crawl.example.net"}}}
	barUser    = uaident.Crawler{Token: "Bar-User", Operator: "Bar", Class: uaident.AIAssistant, UserTriggered: true, Verification: barAds.Verification}
	barPreview = uaident.Crawler{Token: "BarPreview", Operator: "Bar", Class: uaident.Preview, Verification: barAds.Verification}
	barUnsure  = uaident.Crawler{Token: "BarUnsure", Operator: "Bar", Class: uaident.SEO, Verification: uaident.Verification{RDNS: []string{".seo.example.net"}, IsThirdParty: true}}
	barPlain   = uaident.Crawler{Token: "BarPlain", Operator: "Bar", Class: uaident.Search}
	barLibrary = uaident.Crawler{Token: "bar-client", Operator: "Bar", Class: uaident.Library}
	barLists   = uaident.Crawler{Token: "BarLists", Operator: "Bar", Class: uaident.Search}
	barOther   = uaident.Crawler{Token: "BarOther", Operator: "Bar", Class: uaident.Search}
)

// TestAddressOfAnotherCrawler checks that an address of any crawler of the operator verifies a
// client, and that all other addresses are spoofed.
func TestAddressOfAnotherCrawler(t *testing.T) {
	config := Config{ReverseDNS: true, Crawlers: []uaident.Crawler{barBot, barAds, barUser, barPreview, barUnsure, barPlain, barLibrary, copyBot}}
	v := configured(t, Options{Resolver: honestDNS()}, config)
	for _, tc := range []struct {
		name    string
		crawler *uaident.Crawler
		addr    string
		want    Finding
	}{
		{"its own domain", &barAds, "192.0.2.2", Finding{Verified, ReverseDNS}},
		{"another's domain", &barAds, "192.0.2.1", Finding{Verified, ReverseDNS}},
		{"the other way round", &barBot, "192.0.2.2", Finding{Verified, ReverseDNS}},
		{"for a person", &barUser, "192.0.2.1", Finding{Verified, ReverseDNS}},
		{"a preview", &barPreview, "192.0.2.1", Finding{Verified, ReverseDNS}},
		{"unsure facts", &barUnsure, "192.0.2.1", Finding{Verified, ReverseDNS}},
		{"no facts", &barPlain, "192.0.2.1", Finding{Verified, ReverseDNS}},
		{"a library of the operator", &barLibrary, "192.0.2.1", Finding{}},
		{"a crawler of another operator", &copyBot, "192.0.2.1", Finding{}},

		{"spoofed: a name in the domain that is not its own", &barAds, "203.0.113.1", Finding{Spoofed, ReverseDNS}},
		{"spoofed: a name in no domain", &barBot, "203.0.113.2", Finding{Spoofed, ReverseDNS}},
		{"spoofed: no name", &barBot, "198.51.100.9", Finding{Spoofed, ReverseDNS}},
		{"a lookup that failed", &barAds, "198.51.100.1", Finding{State: Unknown}},
		{"a preview elsewhere", &barPreview, "203.0.113.1", Finding{}},
		{"for a person elsewhere", &barUser, "203.0.113.1", Finding{}},
		{"unsure facts elsewhere", &barUnsure, "203.0.113.1", Finding{}},
		{"no facts elsewhere", &barPlain, "203.0.113.1", Finding{}},
	} {
		if got := settled(t, v, tc.crawler, tc.addr); got != tc.want {
			t.Errorf("%s: %s by %s, want %s by %s", tc.name, got.State, got.Method, tc.want.State, tc.want.Method)
		}
	}
}

// TestListOfAnotherCrawler checks that a client is denied only while all lists of the operator are
// current.
func TestListOfAnotherCrawler(t *testing.T) {
	own, other := serveList(t, fourPrefixes), serveList(t, `["203.0.113.0/28"]`)
	lists, others := barLists, barOther
	lists.Verification.Ranges, others.Verification.Ranges = []string{own.URL}, []string{other.URL}
	clock := newClock()
	v := configured(t, Options{Now: clock.Now, Transport: own.Client().Transport}, Config{Crawlers: []uaident.Crawler{lists, others}, Ranges: true})
	check := func(when, addr string, want Finding) {
		t.Helper()
		if got := v.Check(&lists, netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %s is %v, want %v", when, addr, got, want)
		}
	}
	const elsewhere = "198.51.100.1"
	check("no list is loaded", elsewhere, Finding{State: Unknown})
	other.does(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	v.loadAll(t.Context(), v.isListDue)
	check("the other list failed", "192.0.2.1", Finding{Verified, Ranges})
	check("the other list failed", elsewhere, Finding{State: Unknown})
	other.says(`["203.0.113.0/28"]`)
	clock.Add(24 * time.Hour)
	v.loadAll(t.Context(), v.isListDue)
	check("both are loaded", "203.0.113.1", Finding{Verified, Ranges})
	check("both are loaded", elsewhere, Finding{Spoofed, Ranges})
	other.does(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	for range 8 {
		clock.Add(24 * time.Hour)
		v.loadAll(t.Context(), v.isListDue)
	}
	check("the other list is stale", "203.0.113.1", Finding{Verified, Ranges})
	check("the other list is stale", elsewhere, Finding{State: Unknown})
	for _, l := range v.Lists() {
		if len(l.Crawlers) != 1 {
			t.Errorf("%s is for %v, want only the crawler of the registry entry", l.Source, l.Crawlers)
		}
	}
}

// TestGoogle checks the crawlers of Google in the built-in registry, which have different domains.
func TestGoogle(t *testing.T) {
	registry := uaident.Default()
	dns := &fakeDNS{
		ptr: map[string][]string{
			"66.249.66.1": {"crawl-66-249-66-1.googlebot.com."}, "66.249.92.1": {"rate-limited-proxy-66-249-92-1.google.com."},
			"203.0.113.1": {"crawl-66-249-66-1.googlebot.com."},
		},
		addrs: map[string][]string{
			"crawl-66-249-66-1.googlebot.com": {"66.249.66.1"}, "rate-limited-proxy-66-249-92-1.google.com": {"66.249.92.1"},
		},
	}
	v := configured(t, Options{Resolver: dns}, Config{Crawlers: registry.Crawlers(), ReverseDNS: true})
	for _, token := range []string{"Mediapartners-Google", "AdsBot-Google", "AdsBot-Google-Mobile", "APIs-Google", "Googlebot", "GoogleOther"} {
		c := registry.Lookup(token)
		for addr, want := range map[string]State{"66.249.66.1": Verified, "66.249.92.1": Verified, "203.0.113.1": Spoofed} {
			if got := settled(t, v, c, addr); got.State != want {
				t.Errorf("%s from %s is %s, want %s", token, addr, got.State, want)
			}
		}
	}
}

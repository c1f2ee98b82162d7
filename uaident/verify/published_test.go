package verify

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestPublished checks the ranges of an operator while its lists are loaded.
func TestPublished(t *testing.T) {
	own, other := serveList(t, fourPrefixes), serveList(t, `["203.0.113.0/28", "192.0.2.0/27"]`)
	lists, others := barLists, barOther
	lists.Verification.Ranges, others.Verification.Ranges = []string{own.URL}, []string{other.URL}
	config := Config{Crawlers: []uaident.Crawler{lists, others, fooBot, plainBot}, Ranges: true,
		Lists: []List{{CrawlerOrOperator: "FooBot", File: writeFile(t, "198.51.100.0/24")}}}
	clock := newClock()
	v := configured(t, Options{Now: clock.Now, Transport: own.Client().Transport}, config)
	bar, both, none := v.PublishedRanges("bar"), v.PublishedRanges("Bar", "FOO"), v.PublishedRanges("PlainBot")
	check := func(when string, p *PublishedRanges, want string) {
		t.Helper()
		if got := fmt.Sprint(p.Prefixes()); got != want {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
	}
	const loaded = "192.0.2.0/27 192.0.2.64/27 192.0.2.128/27 203.0.113.0/28 2001:db8::/64"
	check("not loaded", bar, "[]")
	check("a file", both, "[198.51.100.0/24]")
	v.loadAll(t.Context(), v.isListDue)
	check("loaded", bar, "["+loaded+"]")
	check("two operators", both, "[192.0.2.0/27 192.0.2.64/27 192.0.2.128/27 198.51.100.0/24 203.0.113.0/28 2001:db8::/64]")
	check("no list", none, "[]")
	other.says(`["203.0.113.0/28", "192.0.2.0/27", "203.0.113.64/28"]`)
	clock.Add(24 * time.Hour)
	v.loadAll(t.Context(), v.isListDue)
	if !contains(bar.Prefixes(), "203.0.113.64/28") {
		t.Errorf("after the list was loaded again: %v", bar.Prefixes())
	}
	if err := v.Configure(config); err != nil {
		t.Fatal(err)
	}
	if !contains(bar.Prefixes(), "203.0.113.64/28") {
		t.Errorf("after a reload: %v", bar.Prefixes())
	}
	if allocs := testing.AllocsPerRun(100, func() { bar.Prefixes() }); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
	if err := v.Configure(Config{}); err != nil {
		t.Fatal(err)
	}
	check("switched off", bar, "[]")
}

func contains(prefixes []netip.Prefix, want string) bool {
	for _, p := range prefixes {
		if p.String() == want {
			return true
		}
	}
	return false
}

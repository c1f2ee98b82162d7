package readers

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestPassesAreBounded has a client look at hosts that nobody named until the one that it
// wants pages of is forgotten, again and again: what passes in doubt is bounded all the same.
func TestPassesAreBounded(t *testing.T) {
	client, now := netip.MustParsePrefix("192.0.2.0/24"), time.Now()
	invented := func(i int) policy.Key { return policy.Key{Site: "*.test", Host: fmt.Sprintf("%d.test", i)} }
	if invented(0).Segment() != policy.Invented {
		t.Fatal("the hosts are named")
	}
	var s Texts
	passed := 0
	for range 100 {
		for s.Site(invented(0)).MayPass(client, now) {
			passed++
		}
		for i := range maxServedInvented {
			s.Site(invented(1 + i))
		}
	}
	if passed < maxPending || passed > maxPendingInvented {
		t.Errorf("%d passed, want %d to %d", passed, maxPending, maxPendingInvented)
	}
	if other := netip.MustParsePrefix("198.51.100.0/24"); !s.Site(invented(0)).MayPass(other, now) {
		t.Error("another network has none left")
	}
	if named := (policy.Key{Site: "a.test", Host: "a.test"}); !s.Site(named).MayPass(client, now) {
		t.Error("a named site lets none pass")
	}
	if !s.Site(invented(0)).MayPass(client, now.Add(2*time.Hour)) {
		t.Error("none passes for ever")
	}
}

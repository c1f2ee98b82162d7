package verify

import (
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
)

func TestNetworks(t *testing.T) {
	const each, ahead = monotime(100 * time.Millisecond), monotime(4 * time.Second)
	now := monotime(time.Hour)
	n := newNetworkStates()
	busy, slow := addr.NetworkOfAddr(invented(1)), addr.NetworkOfAddr(invented(2))
	if p := n.find(busy); p != nil || !p.mayStartLookup(now, ahead) || p.isSlow(now) {
		t.Errorf("unexpected state of a new network: %v", p)
	}
	numLookups := 0
	for ; n.find(busy).mayStartLookup(now, ahead); numLookups++ {
		n.findOrAdd(busy).countLookup(now, each)
	}
	if numLookups != 40 {
		t.Errorf("%d lookups at once, want 40", numLookups)
	}
	n.findOrAdd(busy).countLookup(now, each)
	if n.find(busy).mayStartLookup(now+each, ahead) || !n.find(busy).mayStartLookup(now+each+1, ahead) {
		t.Error("the next lookup is allowed at the wrong time")
	}
	n.findOrAdd(slow).recordDuration(true, now)
	if !n.find(slow).isSlow(now+slowDuration-1) || n.find(slow).isSlow(now+slowDuration) {
		t.Error("a network is slow for another time than slowDuration")
	}
	// Many networks with one lookup each do not evict this network.
	for i := range 2000 {
		n.findOrAdd(addr.NetworkOfAddr(invented(100+i))).countLookup(now, each)
	}
	if n.find(busy).mayStartLookup(now, ahead) || !n.find(slow).isSlow(now+1) {
		t.Error("a network was evicted by networks with fewer lookups")
	}
	n.find(slow).recordDuration(false, now+1)
	if n.find(slow).isSlow(now + 1) {
		t.Error("a network is still slow after a fast lookup")
	}
}

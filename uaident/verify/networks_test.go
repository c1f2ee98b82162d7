package verify

import (
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
)

func TestNetworks(t *testing.T) {
	const each, ahead = monotime(100 * time.Millisecond), monotime(4 * time.Second)
	now := monotime(time.Hour)
	n := newNetworks()
	busy, slow := addr.Network(invented(1)), addr.Network(invented(2))
	if p := n.find(busy); p != nil || !p.mayLookUp(now, ahead) || p.isSlow(now) {
		t.Errorf("something is known of a network that was never heard of: %v", p)
	}
	asked := 0
	for ; n.find(busy).mayLookUp(now, ahead); asked++ {
		n.findOrAdd(busy).countLookup(now, each)
	}
	if asked != 40 {
		t.Errorf("%d at once, want 40", asked)
	}
	n.findOrAdd(busy).countLookup(now, each)
	if n.find(busy).mayLookUp(now+each, ahead) || !n.find(busy).mayLookUp(now+each+1, ahead) {
		t.Error("the next one is not in time when its time has come")
	}
	n.findOrAdd(slow).recordDuration(true, now)
	if !n.find(slow).isSlow(now+slowDuration-1) || n.find(slow).isSlow(now+slowDuration) {
		t.Error("a network is slow for another time than slowFor")
	}
	// Many others that cause one each do not take their places.
	for i := range 2000 {
		n.findOrAdd(addr.Network(invented(100+i))).countLookup(now, each)
	}
	if n.find(busy).mayLookUp(now, ahead) || !n.find(slow).isSlow(now+1) {
		t.Error("a network lost its place to others of which less was heard")
	}
	n.find(slow).recordDuration(false, now+1)
	if n.find(slow).isSlow(now + 1) {
		t.Error("still slow after a fast look-up")
	}
}

package verify

import (
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
)

func TestNetworks(t *testing.T) {
	const each, ahead = moment(100 * time.Millisecond), moment(4 * time.Second)
	now := moment(time.Hour)
	n := newNetworks()
	busy, slow := addr.Network(invented(1)), addr.Network(invented(2))
	if p := n.find(busy); p != nil || !p.inTime(now, ahead) || p.isSlow(now) {
		t.Errorf("something is known of a network that was never heard of: %v", p)
	}
	asked := 0
	for ; n.find(busy).inTime(now, ahead); asked++ {
		n.place(busy).take(now, each)
	}
	if asked != 40 {
		t.Errorf("%d at once, want 40", asked)
	}
	n.place(busy).take(now, each)
	if n.find(busy).inTime(now+each, ahead) || !n.find(busy).inTime(now+each+1, ahead) {
		t.Error("the next one is not in time when its time has come")
	}
	n.place(slow).took(true, now)
	if !n.find(slow).isSlow(now+slowFor-1) || n.find(slow).isSlow(now+slowFor) {
		t.Error("a network is slow for another time than slowFor")
	}
	// Many others that cause one each do not take their places.
	for i := range 2000 {
		n.place(addr.Network(invented(100+i))).take(now, each)
	}
	if n.find(busy).inTime(now, ahead) || !n.find(slow).isSlow(now+1) {
		t.Error("a network lost its place to others of which less was heard")
	}
	n.find(slow).took(false, now+1)
	if n.find(slow).isSlow(now + 1) {
		t.Error("still slow after a fast look-up")
	}
}

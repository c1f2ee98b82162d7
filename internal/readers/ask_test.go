package readers

import (
	"crypto/sha256"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestBegin has as many sites be asked as may be at the same time.
func TestBegin(t *testing.T) {
	var s Texts
	for _, tc := range []struct {
		segment policy.Segment
		most    int
	}{{policy.Named, maxAskingNamed}, {policy.Invented, maxAskingInvented}} {
		for i := range tc.most {
			if !s.Begin(tc.segment) {
				t.Fatalf("%v: none may after %d, want %d", tc.segment, i, tc.most)
			}
		}
		for range 2 {
			if s.Begin(tc.segment) {
				t.Errorf("%v: one more than %d may", tc.segment, tc.most)
			}
		}
		s.End(tc.segment)
		if !s.Begin(tc.segment) || s.Begin(tc.segment) {
			t.Errorf("%v: where one has ended there is not room for one", tc.segment)
		}
	}
}

// siteOf returns a site of which nothing is known yet.
func siteOf(s *Texts) *SiteTexts { return s.Site(policy.Key{Site: "a.test", Host: "a.test"}) }

// TestAsk asks a site for texts as one client.
func TestAsk(t *testing.T) {
	var all Texts
	s := siteOf(&all)
	client, other := Client{Operator: "Microsoft"}, Client{Operator: "Google"}
	one, two := [sha256.Size]byte{1}, [sha256.Size]byte{2}
	may, mayNot := func() bool { return true }, func() bool { return false }
	asked := 0
	ask := func() { asked++ }
	goes := make(chan struct{})
	for i, tc := range []struct {
		client  Client
		hash    [sha256.Size]byte
		after   time.Duration
		begin   func() bool
		ask     func()
		pending bool // it is asked, or will be
		waits   bool // there is something to wait for
		asked   int  // how often it was, in all
	}{
		{client, one, 0, mayNot, ask, true, false, 0},
		{client, one, 0, may, ask, true, true, 1},
		{client, one, askAgain - 1, may, ask, false, false, 1}, // it was in vain
		{client, two, askAgain - 1, may, ask, true, true, 2},   // another text was not
		{other, two, askAgain - 1, may, ask, true, true, 3},
		{client, two, 2*askAgain - 2, may, ask, false, false, 3},
		{client, two, 2*askAgain - 1, may, ask, true, true, 4},
		{client, one, time.Hour, may, func() { asked++; <-goes }, true, true, 5},
	} {
		done, pending := s.Ask(tc.client, here, tc.hash, noon.Add(tc.after), tc.begin, tc.ask)
		if pending != tc.pending || (done != nil) != tc.waits {
			t.Errorf("%d: pending %v, something to wait for %v, want %v and %v", i, pending, done != nil, tc.pending, tc.waits)
		}
		if done == nil || tc.after == time.Hour {
			continue
		}
		if <-done; asked != tc.asked {
			t.Errorf("%d: it was asked %d times, want %d", i, asked, tc.asked)
		}
	}
	first, _ := s.Ask(client, here, two, noon.Add(time.Hour), may, ask)
	again, pending := s.Ask(client, there, one, noon.Add(2*time.Hour), mayNot, ask)
	if first == nil || first != again || !pending {
		t.Error("who comes while it is asked does not wait for that")
	}
	close(goes)
	if <-again; asked != 5 {
		t.Errorf("it was asked %d times, want 5", asked)
	}
}

// TestAsksAreBounded has clients of one network ask and then those of others.
func TestAsksAreBounded(t *testing.T) {
	var all Texts
	s := siteOf(&all)
	n := 0
	ask := func(network netip.Prefix, now time.Time) bool {
		n++
		done, pending := s.Ask(Client{Operator: fmt.Sprint(n)}, network, [sha256.Size]byte{}, now, func() bool { return true }, func() {})
		if done != nil {
			<-done
		}
		if !pending {
			t.Error("what was not asked for is known to be in vain")
		}
		return done != nil
	}
	for i := range askBurst + 1 {
		if got := ask(here, noon); got != (i < askBurst) {
			t.Errorf("number %d of a network may: %v", i+1, got)
		}
	}
	if ask(here, noon.Add(askRate-1)) || !ask(here, noon.Add(askRate)) || ask(here, noon.Add(askRate)) {
		t.Errorf("a network that has used up its turns does not have one more in %v", askRate)
	}
	asked, now := 0, noon.Add(askRate)
	for i := range 2 * allBurst {
		if ask(netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i), 0, 0}), 24), now) {
			asked++
		}
	}
	if want := allBurst - askBurst - 1 + int(askRate/allRate); asked != want {
		t.Errorf("%d others may, want %d", asked, want)
	}
}

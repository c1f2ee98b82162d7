package caddymodule

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestAnOldRequestIsNoChange judges by the version before while the new one is
// known already.
func TestAnOldRequestIsNoChange(t *testing.T) {
	s := newGuardedSite(t, strict)
	s.become(loose)
	old := *s.entry.Standing()
	s.visit(uaGooglebot, "/a", http.StatusOK)
	s.become(strict)
	s.visit(uaGooglebot, "/a", http.StatusOK)
	own := site{key: s.entry.Key(), segment: policy.Invented}
	if holds := s.g.holds(own, &old); len(holds) != 1 {
		t.Errorf("%d holds after a look at the version before, want 1", len(holds))
	}
}

// TestChangeGuardOverReloads has guards come and go, as reloads make them.
func TestChangeGuardOverReloads(t *testing.T) {
	s := newGuardedSite(t, loose)
	first, endFirst := context.WithCancel(t.Context())
	s.g.state.changes.guarded(first)
	s.visit(uaGooglebot, "/a", http.StatusOK)

	reload := func(change string) context.CancelFunc {
		h := Handler{Mode: modeEnforce, Grace: -1}
		h.ChangeGuard.UnmarshalJSON([]byte(change)) //nolint:errcheck // a constant
		g := testGuard(t, h, s.g.source)
		g.state = s.g.state
		s.g = g
		s.observe()
		ctx, end := context.WithCancel(t.Context())
		if g.changeGuard > 0 {
			g.state.changes.guarded(ctx)
		}
		return end
	}
	endSecond := reload(`"6h"`)
	endFirst()
	s.become(strict)
	if got := s.visit(uaGooglebot, "/a", http.StatusOK); got != stale {
		t.Errorf("a change after a reload: %s, want %s", got, stale)
	}
	endThird := reload(`"1h"`)
	endSecond()
	s.now = s.now.Add(heldFor - 1)
	if got := s.visit(uaGooglebot, "/a", http.StatusOK); got != stale {
		t.Errorf("a reload after a change: %s, want %s until the time that was logged", got, stale)
	}
	reload(`0`)
	endThird()
	if got := s.visit(uaGooglebot, "/a", http.StatusOK); got != blocked {
		t.Errorf("turned off: %s, want %s", got, blocked)
	}
	deadline := time.Now().Add(20 * time.Second)
	for len(s.g.state.changes.heldHosts()) > 0 { // contexts end in a goroutine
		if time.Now().After(deadline) {
			t.Fatal("still held after the last guard is gone")
		}
		time.Sleep(time.Millisecond)
	}
}

func TestChangesAreBounded(t *testing.T) {
	s := newGuardedSite(t, loose)
	for i := range 3 * maxChangingInvented {
		s.visit(uaGooglebot, fmt.Sprintf("http://h%d.example/", i), http.StatusOK)
	}
	if n := s.g.state.changes.sites[policy.Invented].Len(); n != maxChangingInvented {
		t.Errorf("%d invented hosts are remembered, want %d", n, maxChangingInvented)
	}

	own := site{key: s.entry.Key(), segment: policy.Invented}
	text := "User-agent: *\n"
	for i := range 2 * maxHolds {
		target := fmt.Sprintf("/%c", 'a'+i)
		s.visit(uaGooglebot, target, http.StatusOK)
		text += "Disallow: " + target + "\n"
		s.become(text)
		s.visit(uaGooglebot, target, http.StatusOK)
	}
	if n := len(s.g.holds(own, s.entry.Standing())); n != maxHolds {
		t.Errorf("%d holds, want %d", n, maxHolds)
	}
}

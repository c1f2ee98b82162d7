package guard

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/copies"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestAnOldRequestIsNoChange evaluates a request with the previous version although the
// new version is known already.
func TestAnOldRequestIsNoChange(t *testing.T) {
	s := newGuardedSite(t, strict)
	s.become(loose)
	old := *s.entry.State()
	s.visit(uaGooglebot, "/a", http.StatusOK)
	s.become(strict)
	s.visit(uaGooglebot, "/a", http.StatusOK)
	own := new(site.NewSite(s.entry.Key()))
	if holds := s.g.updateHolds(own, copies.RequestHost{}, &old); len(holds) != 1 {
		t.Errorf("%d holds after a look at the version before, want 1", len(holds))
	}
}

// TestChangeGuardOverReloads creates and ends guards as reloads do.
func TestChangeGuardOverReloads(t *testing.T) {
	s := newGuardedSite(t, loose)
	s.visit(uaGooglebot, "/a", http.StatusOK)

	reload := func(change time.Duration) context.CancelFunc {
		h := options{Enforce: true, Grace: -1, Guard: change}
		g := testGuard(t, h, s.g.Source)
		g.state = s.g.state
		s.g = g
		s.observe()
		ctx, end := context.WithCancel(t.Context())
		if g.ChangeGuardTime > 0 {
			g.state.changeGuard.AddUser(ctx)
		}
		return end
	}
	endSecond := reload(6 * time.Hour)
	s.end()
	s.become(strict)
	if got := s.visit(uaGooglebot, "/a", http.StatusOK); got != stale {
		t.Errorf("a change after a reload: %s, want %s", got, stale)
	}
	endThird := reload(time.Hour)
	endSecond()
	s.now = s.now.Add(heldFor - 1)
	if got := s.visit(uaGooglebot, "/a", http.StatusOK); got != stale {
		t.Errorf("a reload after a change: %s, want %s until the time that was logged", got, stale)
	}
	reload(0)
	endThird()
	if got := s.visit(uaGooglebot, "/a", http.StatusOK); got != blocked {
		t.Errorf("turned off: %s, want %s", got, blocked)
	}
	deadline := time.Now().Add(20 * time.Second)
	for len(s.g.state.changeGuard.HostsWithHold()) > 0 { // contexts end in a goroutine
		if time.Now().After(deadline) {
			t.Fatal("still held after the last guard is gone")
		}
		time.Sleep(time.Millisecond)
	}
}

// Limits of package changeguard: for hosts that the configuration does not name, and
// for held changes of a site.
const maxChangingInvented, maxHolds = 64, 8

func TestChangesAreBounded(t *testing.T) {
	s := newGuardedSite(t, loose)
	for i := range 3 * maxChangingInvented {
		s.visit(uaGooglebot, fmt.Sprintf("http://h%d.example/", i), http.StatusOK)
	}
	if n := s.g.state.changeGuard.NumSites(policy.UnknownHosts); n != maxChangingInvented {
		t.Errorf("%d invented hosts are remembered, want %d", n, maxChangingInvented)
	}

	own := new(site.NewSite(s.entry.Key()))
	text := "User-agent: *\n"
	for i := range 2 * maxHolds {
		target := fmt.Sprintf("/%c", 'a'+i)
		s.visit(uaGooglebot, target, http.StatusOK)
		text += "Disallow: " + target + "\n"
		s.become(text)
		s.visit(uaGooglebot, target, http.StatusOK)
	}
	if n := len(s.g.updateHolds(own, copies.RequestHost{}, s.entry.State())); n != maxHolds {
		t.Errorf("%d holds, want %d", n, maxHolds)
	}
}

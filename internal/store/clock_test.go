package store

import (
	"slices"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestClocksApart estimates the clock of a peer from the times in its values.
func TestClocksApart(t *testing.T) {
	for _, tc := range []struct {
		name   string
		ahead  time.Duration
		looked bool // the peer was read before
		want   time.Duration
	}{
		{"right", 0, true, 0},
		{"nearly right", 50 * time.Second, true, 0},
		{"an hour ahead", time.Hour, true, time.Hour - 5*time.Second},
		{"an hour behind", -time.Hour, true, -time.Hour - 5*time.Second},
		{"ahead, at first sight", time.Hour, false, time.Hour - 5*time.Second},
		{"behind, at first sight", -time.Hour, false, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, m := t.Context(), storetest.New()
			theirs, ours := newInstance(m, "theirs", noon.Add(tc.ahead)), newInstance(m, "ours", noon)
			pass := func(d time.Duration) {
				theirs.time, ours.time = theirs.time.Add(d), ours.time.Add(d)
				m.Now = ours.time
			}
			theirs.Read(ctx)
			theirs.learns(open)
			theirs.writeAll(ctx, false)
			pass(minWriteInterval)
			if tc.looked {
				ours.Read(ctx)
				ours.Sync(ctx)
				pass(syncInterval - 5*time.Second)
			}
			theirs.learns(shut)
			theirs.writeAll(ctx, false)
			pass(5 * time.Second)
			ours.Sync(ctx)
			peer := ours.peers.byInstance["theirs"]
			if got := peer.offset(); got != tc.want {
				t.Errorf("the clock is ahead by %v, want %v", got, tc.want)
			}
			ours.time = ours.time.Add(policy.MaxAge - 10*time.Minute)
			got, _ := ours.others(shut, "")
			if isLate := tc.name == "behind, at first sight"; slices.Equal(got, []string{open}) == isLate {
				t.Errorf("almost a day after the change, crawlers may use %q", got)
			}
		})
	}
}

// TestClockIsSetRight corrects the clock of a peer.
func TestClockIsSetRight(t *testing.T) {
	var c peerClock
	k := key{instance: "x", kind: kindChanges, name: "1.json"}
	now := noon
	for step, x := range []struct{ ahead, want time.Duration }{
		{time.Hour, time.Hour}, {time.Hour, time.Hour}, {0, 0}, {-2 * time.Hour, -2 * time.Hour}, {time.Minute / 2, 0},
	} {
		now = now.Add(syncInterval)
		c.update(k, now.Add(x.ahead), now)
		c.lastSync = now
		if got := c.offset(); got != x.want {
			t.Errorf("step %d: ahead by %v, want %v", step, got, x.want)
		}
	}
	now = now.Add(time.Hour) // no look in the last hour
	c.update(k, now.Add(-20*time.Minute), now)
	if got := c.offset(); got != 0 {
		t.Errorf("a value of twenty minutes ago makes the clock differ by %v", got)
	}
}

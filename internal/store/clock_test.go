package store

import (
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// TestClocksApart has a peer whose clock is wrong. What it has noted counts from when
// it was so by our clock.
func TestClocksApart(t *testing.T) {
	for _, tc := range []struct {
		name         string
		ahead        time.Duration
		looked       bool          // the peer was looked at before
		wrong, known time.Duration // what the time is wrong by, and the clock found to be ahead by
	}{
		{"right", 0, true, 0, 0},
		{"nearly right", 50 * time.Second, true, 50 * time.Second, 0},
		{"an hour ahead", time.Hour, true, 0, time.Hour - 5*time.Second},
		{"an hour behind", -time.Hour, true, 0, -time.Hour - 5*time.Second},
		{"ahead, at first sight", time.Hour, false, 0, time.Hour - 5*time.Second},
		{"behind, at first sight", -time.Hour, false, -time.Hour, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, m := t.Context(), storetest.New()
			theirs, ours := newInstance(m, "theirs", noon.Add(tc.ahead)), newInstance(m, "ours", noon)
			pass := func(d time.Duration) {
				theirs.time, ours.time = theirs.time.Add(d), ours.time.Add(d)
				m.Now = ours.time
			}
			theirs.Read(ctx)
			theirs.reads(namedKey("b.test"))
			theirs.writeAll(ctx, false)
			pass(noteInterval)
			if tc.looked {
				ours.Read(ctx)
				ours.Sync(ctx)
				pass(syncInterval - 5*time.Second)
			}
			at := ours.time
			theirs.reads(siteA)
			theirs.writeAll(ctx, false)
			pass(5 * time.Second)
			ours.Sync(ctx)
			const late = 5 * time.Second // since which it has been stored
			got := ours.hasRead(siteA)
			if wrong := got.Sub(at); wrong < tc.wrong || wrong > tc.wrong+late {
				t.Errorf("it was read at %v, which is wrong by %v, want %v", got, wrong, tc.wrong)
			}
			if got := ours.peers.clockOf("theirs"); got != tc.known {
				t.Errorf("the clock is ahead by %v, want %v", got, tc.known)
			}

			// What was read elsewhere since then stays the last.
			pass(time.Second)
			ours.reads(siteA)
			here := ours.hasRead(siteA)
			for range 4 {
				pass(syncInterval)
				ours.Sync(ctx)
			}
			if got := ours.hasRead(siteA); tc.wrong == 0 && !got.Equal(here) {
				t.Errorf("a reading of %v hides one of %v", got, here)
			}
		})
	}
}

// TestClockIsSetRight has the clock of a peer corrected.
func TestClockIsSetRight(t *testing.T) {
	var c clock
	k := key{instance: "x", kind: kindReaders, name: "1.json"}
	now := noon
	for step, x := range []struct{ ahead, want time.Duration }{
		{time.Hour, time.Hour}, {time.Hour, time.Hour}, {0, 0}, {-2 * time.Hour, -2 * time.Hour}, {time.Minute / 2, 0},
	} {
		now = now.Add(syncInterval)
		c.note(k, now.Add(x.ahead), now)
		c.looked = now
		if got := c.apart(); got != x.want {
			t.Errorf("step %d: ahead by %v, want %v", step, got, x.want)
		}
	}
	now = now.Add(time.Hour) // nobody looked
	c.note(k, now.Add(-20*time.Minute), now)
	if got := c.apart(); got != 0 {
		t.Errorf("a value of twenty minutes ago makes the clock differ by %v", got)
	}
}

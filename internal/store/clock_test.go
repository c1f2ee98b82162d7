package store

import (
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/policy"
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

// TestHoldsBetweenClocks has a peer whose clock is wrong hold a change back: here it is
// held for as long, and what was visited there was visited when it was.
func TestHoldsBetweenClocks(t *testing.T) {
	for _, ahead := range []time.Duration{0, time.Hour, -time.Hour} {
		ctx, m := t.Context(), storetest.New()
		theirs, ours := newInstance(m, "theirs", noon.Add(ahead)), newInstance(m, "ours", noon)
		there, here := &changesOf{site: siteA}, &changesOf{}
		theirs.memory.parts.Changes, ours.memory.parts.Changes = there, here
		pass := func(d time.Duration) {
			theirs.time, ours.time = theirs.time.Add(d), ours.time.Add(d)
			m.Now = ours.time
		}
		theirs.Read(ctx)
		ours.Read(ctx)
		for range 2 { // once to know the clock
			ours.Sync(ctx)
			pass(syncInterval - time.Second)
			theirs.reads(siteA)
			visits := []ledger.Visit{{Crawler: "bingbot", Chain: []string{"bingbot"}, Host: siteA.Host, Target: "/a", At: theirs.time.Add(-time.Minute)}}
			there.kept = ledger.Changes{
				Site: siteA, Hash: [32]byte{1}, Read: theirs.time, Visits: visits,
				Holds: []ledger.Hold{{Version: [32]byte{2}, Since: theirs.time, Until: theirs.time.Add(24 * time.Hour), Visits: visits}},
			}
			there.revision++
			theirs.writeAll(ctx, false)
			pass(time.Second)
		}
		at := ours.time.Add(-time.Second)
		ours.Sync(ctx)
		if len(here.kept.Holds) != 1 || len(here.kept.Visits) != 1 {
			t.Fatalf("ahead by %v: %+v", ahead, here.kept)
		}
		hold := here.kept.Holds[0]
		for name, wrong := range map[string]time.Duration{
			"found":       here.kept.Read.Sub(at),
			"since":       hold.Since.Sub(at),
			"until":       hold.Until.Sub(at.Add(24 * time.Hour)),
			"the reason":  hold.Visits[0].At.Sub(at.Add(-time.Minute)),
			"the visited": here.kept.Visits[0].At.Sub(at.Add(-time.Minute)),
		} {
			if wrong < 0 || wrong > time.Second { // for which it has been stored
				t.Errorf("ahead by %v: %s is wrong by %v", ahead, name, wrong)
			}
		}
	}
}

// changesOf remembers what was kept of one site, here or elsewhere.
type changesOf struct {
	site     policy.Key
	kept     ledger.Changes
	revision uint64
}

func (c *changesOf) Sites() []policy.Key {
	if c.site == (policy.Key{}) {
		return nil
	}
	return []policy.Key{c.site}
}
func (c *changesOf) Revision(policy.Key) (holds, visits uint64) { return c.revision, 0 }
func (c *changesOf) Snapshot(policy.Key) (ledger.Changes, bool) { return c.kept, true }
func (c *changesOf) Restore(kept ledger.Changes, _ *policy.State, _ bool) (int, bool) {
	c.kept = kept
	return len(kept.Holds), true
}

package rate

import (
	"fmt"
	"testing"
	"time"
)

// late is some instances that hear of each other's counts later than these were made, as by
// a storage that each writes and each reads every 15 seconds.
type late struct {
	*cluster
	told [][]byte // by each the last time
}

// sync has each hear what the others told the last time, and then tell what it counts.
func (l *late) sync(t *testing.T, passed time.Duration) {
	for i, to := range l.all {
		for j, data := range l.told {
			if j != i && data != nil && l.up[i] {
				if err := to.Import(fmt.Sprint(j), data, l.at(i, passed)); err != nil {
					t.Fatal(err)
				}
			}
		}
		to.Share(l.at(i, passed), true)
	}
	for i, from := range l.all {
		if !l.up[i] {
			continue
		}
		data, err := from.Export(l.at(i, passed))
		if err != nil {
			t.Fatal(err)
		}
		if data != nil {
			l.told[i] = data
		}
	}
}

// TestMovesWhileCountsAreLate has a crawler keep exactly to what is asked while all its
// requests come to another instance from some moment on, also since the one before has
// ended: what that one counted last is then known for a minute more. It is never too fast.
func TestMovesWhileCountsAreLate(t *testing.T) {
	const moves = 20 * time.Minute
	for _, window := range []time.Duration{time.Minute, 5 * time.Minute} {
		for name, rules := range map[string]*Rules{
			"limit":             {Configured: Rule{time.Second, 1}, Window: window},
			"limit and burst":   {Configured: Rule{time.Second, 10}, Window: window},
			"limit, often":      {Configured: Rule{100 * time.Millisecond, 10}, Window: window},
			"Crawl-delay":       {CrawlDelay: Rule{time.Second, 10}, Tolerance: 1.5, Window: window},
			"Crawl-delay, over": {CrawlDelay: Rule{time.Second, 10}, Tolerance: 1.1, Window: window},
		} {
			for _, ends := range []bool{false, true} {
				c := &late{newCluster(2), make([][]byte, 2)}
				refused, asked, synced := 0, 0, time.Duration(0)
				for now := time.Duration(0); now < moves+10*time.Minute; now += max(rules.Configured.Interval, rules.CrawlDelay.Interval) {
					for ; synced <= now; synced += 15 * time.Second {
						c.sync(t, synced)
					}
					i := 0
					if now >= moves {
						i, c.up[0] = 1, !ends
					}
					if asked++; c.all[i].Spend(c.at(i, now), &verified, rules).Over {
						refused++
					}
				}
				if refused > 0 {
					t.Errorf("%s in %v, the other ends: %t: %d of %d are one too many", name, window, ends, refused, asked)
				}
			}
		}
	}
}

// TestOtherWindows has one instance count in a window of an hour, as both did before a change
// of the configuration that the other has loaded already, while a crawler asks both in turn as
// often as a limit allows: what was counted in another window is not held against it.
func TestOtherWindows(t *testing.T) {
	rules := [...]*Rules{
		{Configured: Rule{time.Second, 10}, Window: time.Hour},
		{Configured: Rule{time.Second, 10}, Window: time.Hour},
	}
	c := newCluster(2)
	refused, synced := 0, time.Duration(0)
	for asked := range 3600 {
		now := time.Duration(asked) * time.Second
		for ; synced <= now; synced += 15 * time.Second {
			c.sync(t, synced)
		}
		i := asked % 2
		if asked == 1207 || asked == 2405 { // between two syncs
			rules[asked/2400] = &Rules{Configured: Rule{time.Second, 10}, Window: time.Minute}
		}
		if c.all[i].Spend(c.at(i, now), &verified, rules[i]).Over {
			refused++
		}
	}
	if refused > 0 {
		t.Errorf("%d are one too many", refused)
	}
	for now := time.Hour; now < time.Hour+20*time.Minute; now += 15 * time.Second {
		for i := range 2 {
			for range 30 {
				c.all[i].Spend(c.at(i, now), &verified, rules[i])
			}
		}
		c.sync(t, now)
	}
	for i, b := range c.all {
		if b.peers.sharedBudgets[0].otherRequests.Load() == 0 {
			t.Errorf("instance %d hears nothing of the other, which counts in the same window by now", i)
		}
	}
}

// TestPollingCountsLittle has two networks poll one instance by a name, far too fast, also
// while one of them holds the only place that it may: the other instance hears of no more
// than each may ask alone, so that who asks there is not slowed for them.
func TestPollingCountsLittle(t *testing.T) {
	for _, concurrent := range []int{0, 2} {
		rules := &Rules{Configured: Rule{time.Second, 10}, Window: 5 * time.Minute, Concurrent: concurrent}
		c := newCluster(2)
		if place := c.all[0].Spend(c.at(0, 0), claimed.from(1), rules).Slot; (place != nil) != (concurrent > 0) {
			t.Fatal("it holds no place")
		}
		refused, synced := 0, time.Duration(0)
		for tick := range 100 * 300 {
			now := time.Duration(tick) * 10 * time.Millisecond
			for ; synced <= now; synced += 15 * time.Second {
				c.sync(t, synced)
			}
			leave(c.all[0].Spend(c.at(0, now), claimed.from(1+tick%2), rules))
			if tick%200 != 0 {
				continue
			}
			pace := c.all[1].Spend(c.at(1, now), claimed.from(3), rules)
			if leave(pace); pace.Over {
				refused++
			}
		}
		if others := c.all[1].peers.sharedBudgets[0].otherRequests.Load(); others == 0 || others > 3*(300+10) {
			t.Errorf("%d places: the other instance hears of %d requests", concurrent, others)
		}
		if refused > 150*4/5 {
			t.Errorf("%d places: of 150 requests there %d are one too many", concurrent, refused)
		}
	}
}

// leave gives the place of a request back, if it has taken one.
func leave(p Pace) {
	if p.Slot != nil {
		p.Slot.Release()
	}
}

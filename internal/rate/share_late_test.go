package rate

import (
	"fmt"
	"testing"
	"time"
)

// lateCluster is a cluster whose instances import counts one sync later, as with a storage that
// each instance writes and reads every 15 seconds.
type lateCluster struct {
	*cluster
	lastExports [][]byte // last export of each instance
}

// sync imports the previous exports into each instance, then exports again.
func (l *lateCluster) sync(t *testing.T, passed time.Duration) {
	for i, to := range l.instances {
		for j, data := range l.lastExports {
			if j != i && data != nil && l.up[i] {
				if err := to.Import(fmt.Sprint(j), data, l.at(i, passed)); err != nil {
					t.Fatal(err)
				}
			}
		}
		to.SetSharing(l.at(i, passed), true)
	}
	for i, from := range l.instances {
		if !l.up[i] {
			continue
		}
		data, err := from.Export(l.at(i, passed))
		if err != nil {
			t.Fatal(err)
		}
		if data != nil {
			l.lastExports[i] = data
		}
	}
}

// TestMoveToAnotherInstance moves a compliant crawler to another instance, also because its
// instance stopped. The last counts of that instance apply for one more minute. No request is over
// the rate.
func TestMoveToAnotherInstance(t *testing.T) {
	const moves = 20 * time.Minute
	for _, window := range []time.Duration{time.Minute, 5 * time.Minute} {
		for name, rules := range map[string]*Rules{
			"limit":             {ConfiguredLimit: Rule{time.Second, 1}, Window: window},
			"limit and burst":   {ConfiguredLimit: Rule{time.Second, 10}, Window: window},
			"limit, often":      {ConfiguredLimit: Rule{100 * time.Millisecond, 10}, Window: window},
			"Crawl-delay":       {CrawlDelay: Rule{time.Second, 10}, Tolerance: 1.5, Window: window},
			"Crawl-delay, over": {CrawlDelay: Rule{time.Second, 10}, Tolerance: 1.1, Window: window},
		} {
			for _, ends := range []bool{false, true} {
				c := &lateCluster{newCluster(2), make([][]byte, 2)}
				refused, asked, synced := 0, 0, time.Duration(0)
				for now := time.Duration(0); now < moves+10*time.Minute; now += max(rules.ConfiguredLimit.Interval, rules.CrawlDelay.Interval) {
					for ; synced <= now; synced += 15 * time.Second {
						c.sync(t, synced)
					}
					i := 0
					if now >= moves {
						i, c.up[0] = 1, !ends
					}
					if asked++; c.instances[i].ChargeRequest(c.at(i, now), &verified, rules).IsOverRate {
						refused++
					}
				}
				if refused > 0 {
					t.Errorf("%s in %v, first instance stops: %t: %d of %d requests are over the rate", name, window, ends, refused, asked)
				}
			}
		}
	}
}

// TestDifferentWindows lets a compliant crawler alternate between two instances. One instance has
// loaded a configuration with a shorter window. Counts of a different window do not affect a
// verdict.
func TestDifferentWindows(t *testing.T) {
	rules := [...]*Rules{
		{ConfiguredLimit: Rule{time.Second, 10}, Window: time.Hour},
		{ConfiguredLimit: Rule{time.Second, 10}, Window: time.Hour},
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
			rules[asked/2400] = &Rules{ConfiguredLimit: Rule{time.Second, 10}, Window: time.Minute}
		}
		if c.instances[i].ChargeRequest(c.at(i, now), &verified, rules[i]).IsOverRate {
			refused++
		}
	}
	if refused > 0 {
		t.Errorf("%d requests are over the rate", refused)
	}
	for now := time.Hour; now < time.Hour+20*time.Minute; now += 15 * time.Second {
		for i := range 2 {
			for range 30 {
				c.instances[i].ChargeRequest(c.at(i, now), &verified, rules[i])
			}
		}
		c.sync(t, now)
	}
	for i, b := range c.instances {
		if b.peers.sharedBudgets[0].otherRequests.Load() == 0 {
			t.Errorf("instance %d ignores the counts of the other instance with the same window", i)
		}
	}
}

// TestPollingNetworks lets two networks poll one instance far too fast under one name, also while
// one of them uses its only slot. The other instance imports no more requests than each network may
// send. So a client with that name is not slowed at the other instance.
func TestPollingNetworks(t *testing.T) {
	for _, concurrent := range []int{0, 2} {
		rules := &Rules{ConfiguredLimit: Rule{time.Second, 10}, Window: 5 * time.Minute, Concurrent: concurrent}
		c := newCluster(2)
		if slot := c.instances[0].ChargeRequest(c.at(0, 0), claimed.from(1), rules).Slot; (slot != nil) != (concurrent > 0) {
			t.Fatal("unexpected slot")
		}
		refused, synced := 0, time.Duration(0)
		for tick := range 100 * 300 {
			now := time.Duration(tick) * 10 * time.Millisecond
			for ; synced <= now; synced += 15 * time.Second {
				c.sync(t, synced)
			}
			release(c.instances[0].ChargeRequest(c.at(0, now), claimed.from(1+tick%2), rules))
			if tick%200 != 0 {
				continue
			}
			pace := c.instances[1].ChargeRequest(c.at(1, now), claimed.from(3), rules)
			if release(pace); pace.IsOverRate {
				refused++
			}
		}
		if others := c.instances[1].peers.sharedBudgets[0].otherRequests.Load(); others == 0 || others > 3*(300+10) {
			t.Errorf("%d concurrent: the other instance imports %d requests", concurrent, others)
		}
		if refused > 150*4/5 {
			t.Errorf("%d concurrent: %d of 150 requests to the other instance are over the rate", concurrent, refused)
		}
	}
}

// release releases the slot of a request, if any.
func release(p Pace) {
	if p.Slot != nil {
		p.Slot.ReleaseSlot()
	}
}

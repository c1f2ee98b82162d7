package limit

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestTake(t *testing.T) {
	var r Rate
	const interval, burst = 10 * time.Second, 10
	now := time.Hour
	take := func() (n int) {
		for r.Allow(now, interval, burst) {
			n++
		}
		return n
	}
	for _, tc := range []struct {
		name string
		pass time.Duration
		want int
	}{
		{"a burst", 0, burst},
		{"nothing is left of it", 0, 0},
		{"just before the next one", interval - 1, 0},
		{"the next one", 1, 1},
		{"three intervals", 3 * interval, 3},
		{"as long as a burst", burst * interval, burst},
		{"long after that", 1000 * interval, burst},
	} {
		now += tc.pass
		if got := take(); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, got, tc.want)
		}
	}
}

func TestCount(t *testing.T) {
	var r Rate
	r.Reset()
	now, interval := -time.Hour, time.Second // also by a clock that is before its beginning
	if r.TimeUntilDue(now) > 0 {
		t.Errorf("nothing has happened, and it is %v ahead", r.TimeUntilDue(now))
	}
	for range 3 {
		r.Charge(now, interval)
	}
	if r.TimeUntilDue(now) != 3*interval || r.DueTime() != now+3*interval || r.TimeUntilDue(now+interval) != 2*interval {
		t.Errorf("%v ahead, due %v", r.TimeUntilDue(now), r.DueTime())
	}
	if now += time.Minute; r.TimeUntilDue(now) > 0 {
		t.Errorf("%v ahead after a minute", r.TimeUntilDue(now))
	}
	if r.Charge(now, interval); r.TimeUntilDue(now) != interval {
		t.Errorf("%v ahead, want one interval: time that passed is not saved up", r.TimeUntilDue(now))
	}
	if r.Reset(); r.TimeUntilDue(now) > 0 {
		t.Errorf("%v ahead after Reset", r.TimeUntilDue(now))
	}
}

// TestTogether has goroutines take at once: none gets one too many, and none is
// counted twice.
func TestTogether(t *testing.T) {
	var r Rate
	var taken atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				if r.Allow(time.Hour, time.Second, 100) {
					taken.Add(1)
				}
			}
		})
	}
	all.Wait()
	if n := taken.Load(); n != 100 || r.TimeUntilDue(time.Hour) != 100*time.Second {
		t.Errorf("%d taken, %v ahead", n, r.TimeUntilDue(time.Hour))
	}
}

// TestTrim forgets what is too far ahead, and nothing else.
func TestTrim(t *testing.T) {
	var r Rate
	now := time.Hour
	for range 10 {
		r.Charge(now, time.Hour)
	}
	for _, tc := range []struct{ most, ahead time.Duration }{{20 * time.Hour, 10 * time.Hour}, {time.Minute, time.Minute}, {time.Hour, time.Minute}} {
		if r.CapUsedBurst(now, tc.most); r.TimeUntilDue(now) != tc.ahead {
			t.Errorf("%v ahead after Trim to %v, want %v", r.TimeUntilDue(now), tc.most, tc.ahead)
		}
	}
}

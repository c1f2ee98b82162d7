package rate

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// watched is a load, what was told of it, and what comes of a simulated time.
type watched struct {
	*Load
	now    time.Duration
	begun  []time.Duration
	ended  []time.Duration
	random *rand.Rand
}

func newWatched() *watched {
	return &watched{Load: NewLoad(DefaultThresholds), now: time.Hour, random: rand.New(rand.NewPCG(1, 2))}
}

// pass lets a time pass in which so many answers a second take as long as took says, and
// the load is settled each second.
func (w *watched) pass(t time.Duration, perSecond float64, took func() time.Duration) {
	for end, due := w.now+t, 0.0; w.now < end; w.now += time.Second {
		for due += perSecond; due >= 1; due-- {
			if at := w.now + time.Duration(w.random.Int64N(int64(time.Second))); w.Observe(at, took()) {
				w.begun = append(w.begun, at)
			}
		}
		if _, over := w.Settle(w.now); over {
			w.ended = append(w.ended, w.now)
		}
	}
}

func always(d time.Duration) func() time.Duration { return func() time.Duration { return d } }

// TestLoad lets load come and go in many ways.
func TestLoad(t *testing.T) {
	const fast, slow = 50 * time.Millisecond, 3 * time.Second
	sometimes := func(w *watched, percent float64) func() time.Duration {
		return func() time.Duration {
			if w.random.Float64()*100 < percent {
				return slow
			}
			return fast
		}
	}
	for _, tc := range []struct {
		name         string
		happens      func(w *watched)
		begun, ended int
		under        bool // at the end
	}{
		{"nothing", func(w *watched) { w.pass(time.Hour, 0, nil) }, 0, 0, false},
		{"fast answers", func(w *watched) { w.pass(time.Hour, 20, always(fast)) }, 0, 0, false},
		{"slow answers", func(w *watched) { w.pass(10*time.Minute, 20, always(slow)) }, 1, 0, true},
		{"just as long as the threshold", func(w *watched) { w.pass(10*time.Minute, 20, always(2*time.Second)) }, 0, 0, false},
		{"slow answers for 25 seconds", func(w *watched) {
			w.pass(5*time.Minute, 20, always(fast))
			w.pass(25*time.Second, 20, always(slow))
			w.pass(5*time.Minute, 20, always(fast))
		}, 0, 0, false},
		{"a burst of slow answers, and then a few", func(w *watched) {
			w.pass(2*time.Second, 100, always(slow))
			w.pass(5*time.Minute, 0.3, always(fast))
		}, 0, 0, false},
		{"one in fifty is slow", func(w *watched) { w.pass(time.Hour, 50, sometimes(w, 2)) }, 0, 0, false},
		{"one in five is slow", func(w *watched) { w.pass(time.Hour, 50, sometimes(w, 20)) }, 1, 0, true},
		{"few requests are no evidence", func(w *watched) { w.pass(time.Hour, 0.3, always(slow)) }, 0, 0, false},
		{"few requests, and just enough", func(w *watched) { w.pass(10*time.Minute, 1, always(slow)) }, 1, 0, true},
		{"slow, then fast", func(w *watched) {
			w.pass(5*time.Minute, 20, always(slow))
			w.pass(10*time.Minute, 20, always(fast))
		}, 1, 1, false},
		{"slow, then between the thresholds", func(w *watched) {
			w.pass(5*time.Minute, 20, always(slow))
			w.pass(time.Hour, 20, always(1500*time.Millisecond))
		}, 1, 0, true},
		{"slow, then no requests at all", func(w *watched) {
			w.pass(5*time.Minute, 20, always(slow))
			w.pass(10*time.Minute, 0, nil)
		}, 1, 1, false},
		{"slow, then few requests", func(w *watched) {
			w.pass(5*time.Minute, 20, always(slow))
			w.pass(10*time.Minute, 0.1, always(slow))
		}, 1, 1, false},
		{"up and down each second for an hour", func(w *watched) {
			for range 1800 {
				w.pass(time.Second, 20, always(slow))
				w.pass(time.Second, 20, always(fast))
			}
		}, 1, 0, true},
		{"up and down each minute for an hour", func(w *watched) {
			for range 30 {
				w.pass(time.Minute, 20, always(slow))
				w.pass(time.Minute, 20, always(fast))
			}
		}, 1, 0, true},
		{"up and down each second, and then down", func(w *watched) {
			for range 1800 {
				w.pass(time.Second, 20, always(slow))
				w.pass(time.Second, 20, always(fast))
			}
			w.pass(3*time.Minute, 20, always(fast))
		}, 1, 1, false},
		{"twice", func(w *watched) {
			for range 2 {
				w.pass(5*time.Minute, 20, always(slow))
				w.pass(5*time.Minute, 20, always(fast))
			}
		}, 2, 2, false},
	} {
		w := newWatched()
		tc.happens(w)
		if len(w.begun) != tc.begun || len(w.ended) != tc.ended || w.Under() != tc.under {
			t.Errorf("%s: began at %v, ended at %v, under load %v, want %d, %d, %v", tc.name, w.begun, w.ended, w.Under(), tc.begun, tc.ended, tc.under)
		}
	}
}

// TestLoadTimes tells how soon load begins and ends.
func TestLoadTimes(t *testing.T) {
	w := newWatched()
	w.pass(10*time.Minute, 20, always(50*time.Millisecond))
	at := w.now
	w.pass(2*time.Minute, 20, always(3*time.Second))
	calm := w.now
	w.pass(10*time.Minute, 20, always(50*time.Millisecond))
	if len(w.begun) != 1 || w.begun[0]-at < 30*time.Second || w.begun[0]-at > 36*time.Second {
		t.Errorf("it began after %v, want 30 s and a little more", w.begun[0]-at)
	}
	if len(w.ended) != 1 || w.ended[0]-calm < 100*time.Second || w.ended[0]-calm > 125*time.Second {
		t.Errorf("it ended after %v, want about 2 min", w.ended[0]-calm)
	}
	if seen := w.Recent(w.now); seen.Slow != 0 || seen.Answers < 500 {
		t.Errorf("%+v", seen)
	}
	quiet := newWatched()
	quiet.pass(time.Minute, 20, always(3*time.Second))
	since := quiet.now
	quiet.pass(10*time.Minute, 0, nil)
	if len(quiet.ended) != 1 || quiet.ended[0]-since > 125*time.Second {
		t.Errorf("without requests it ended after %v", quiet.ended)
	}
}

// TestPercentile holds the count of slow answers to the percentile of random times: load
// begins where that is above the threshold.
func TestPercentile(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		n, percent := 20+random.IntN(200), random.Float64()*12
		var seen Seen
		var times []time.Duration
		for range n {
			took := time.Duration(random.Int64N(int64(2 * time.Second)))
			if random.Float64()*100 < percent {
				took += 2*time.Second + 1
			}
			times = append(times, took)
			if seen.Answers++; took > 2*time.Second {
				seen.Slow++
			}
		}
		slices.Sort(times)
		p95 := times[(n*95+99)/100-1] // the nearest rank
		if got, want := seen.high(), p95 > 2*time.Second; got != want {
			t.Fatalf("of %d %d are slow: high %v, and the percentile is %v", seen.Answers, seen.Slow, got, p95)
		}
	}
}

// TestLoadTogether has many goroutines observe one load: it begins once.
func TestLoadTogether(t *testing.T) {
	l := NewLoad(DefaultThresholds)
	var wg sync.WaitGroup
	var mu sync.Mutex
	began := 0
	for range 8 {
		wg.Go(func() {
			for i := range 4000 {
				if l.Observe(time.Hour+time.Duration(i)*20*time.Millisecond, 3*time.Second) {
					mu.Lock()
					began++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	if began != 1 || !l.Under() || !l.Stop() || l.Under() || l.Stop() {
		t.Errorf("it began %d times", began)
	}
}

// TestSheddable never lets those be shed on whom people depend.
func TestSheddable(t *testing.T) {
	for _, class := range []uaident.Class{
		uaident.Browser, uaident.Search, uaident.AISearch, uaident.AIAssistant, uaident.Preview, uaident.Feed, uaident.Monitor,
		uaident.Service, uaident.Ads, uaident.Library, uaident.Headless, uaident.Other,
	} {
		if Sheddable().Has(class) || DefaultClasses().Has(class) {
			t.Errorf("%s may be shed", class)
		}
	}
	if DefaultClasses()&^Sheddable() != 0 {
		t.Error("a class is shed by default that may not be")
	}
}

// TestSamples counts whose answers are observed, of so many requests in each second.
func TestSamples(t *testing.T) {
	for perSecond, want := range map[int]int{1: 1, 20: 20, 100: 100, 101: 100, 112: 101, 1000: 100 + 56, 16000: 100 + 994} {
		l := NewLoad(DefaultThresholds)
		for second := range 3 {
			sampled := 0
			for i := range perSecond {
				if l.Samples(time.Duration(second)*time.Second + time.Second*time.Duration(i)/time.Duration(perSecond)) {
					sampled++
				}
			}
			if sampled != want {
				t.Errorf("of %d requests in second %d: %d, want %d", perSecond, second, sampled, want)
			}
		}
	}
	l := NewLoad(DefaultThresholds)
	l.Samples(2 * time.Second)
	if l.Samples(time.Second); uint32(l.asked.Load()) != 2 {
		t.Error("a request that comes late is not counted in the second that has begun")
	}
}

// TestSamplesAtOnce has many goroutines ask in one second.
func TestSamplesAtOnce(t *testing.T) {
	var sampled atomic.Int64
	var group sync.WaitGroup
	l := NewLoad(DefaultThresholds)
	for range 8 {
		group.Go(func() {
			for range 200 {
				if l.Samples(5 * time.Second) {
					sampled.Add(1)
				}
			}
		})
	}
	if group.Wait(); sampled.Load() != 100+94 { // of 112, 128, ... 1600 each
		t.Errorf("%d of 1600, want 194", sampled.Load())
	}
}

func TestObservingCostsNoAllocation(t *testing.T) {
	l, now := NewLoad(DefaultThresholds), time.Hour
	if n := testing.AllocsPerRun(1000, func() {
		now += 10 * time.Millisecond
		if l.Samples(now) {
			l.Observe(now, 3*time.Second)
		}
		l.Settle(now)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkObserve(b *testing.B) {
	for name, took := range map[string]time.Duration{"fast": time.Millisecond, "slow": 3 * time.Second} {
		b.Run(name, func(b *testing.B) {
			l, now := NewLoad(DefaultThresholds), time.Hour
			b.ReportAllocs()
			for b.Loop() {
				now += time.Millisecond
				l.Observe(now, took)
			}
		})
	}
}

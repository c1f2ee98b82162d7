package ledger

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// TestReadingsComeInOrder holds the ledger against a count by hand, whenever
// what was noted is counted, and although many things happen at the same time.
func TestReadingsComeInOrder(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		c := newClock()
		l := New(c.now)
		requests, sinceRead, read := uint64(0), uint64(0), 0
		held := false
		for range 3 * bufferRequests {
			switch random.IntN(12) {
			case 0:
				read++
				l.RecordRead(gptbot(c.now(), ""), Read{At: c.now().UnixMilli(), Status: read})
				sinceRead = 0
			case 1:
				c.advance(time.Duration(random.IntN(3)) * time.Millisecond)
			case 2:
				if held = !held; held {
					l.mu.Lock()
				} else {
					l.mu.Unlock()
				}
			case 3:
				if !held {
					l.flush()
				}
			default:
				l.Record(gptbot(c.now(), "/"))
				requests++
				sinceRead++
			}
		}
		if held {
			l.mu.Unlock()
		}
		s := l.Snapshot()
		w := s.row(t, "example.com", "GPTBot")
		if got := s.total(); got.Requests() != requests || w.SinceRead != sinceRead || read > 0 && w.Read.Status != read {
			t.Fatalf("seed %d: %d requests, %d of them since %+v; want %d and %d since reading %d",
				seed, got.Requests(), w.SinceRead, w.Read, requests, sinceRead, read)
		}
	}
}

// TestKnownBeforeAReading tells what a crawler knew when it came, also if that
// is counted after it has read the robots.txt.
func TestKnownBeforeAReading(t *testing.T) {
	old, current := Version{9}, Version{1} // gptbot is judged by the latter
	for _, tc := range []struct {
		name     string
		readings []Version // before it comes
		want     FetchedVersion
	}{
		{"it never read", nil, Never},
		{"it read the old text", []Version{old}, OldText},
		{"it read both", []Version{old, current}, CurrentText},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newClock()
			c.advance(-2 * time.Hour) // the text is an hour old at noon
			l := New(c.now)
			l.mu.Lock()
			for _, v := range tc.readings {
				l.RecordRead(gptbot(c.now(), ""), Read{At: c.now().UnixMilli(), Status: 200, Version: v})
			}
			c.set(noon)
			l.Record(gptbot(c.now(), "/"))
			l.countAll()
			c.advance(time.Hour)
			l.Record(gptbot(c.now(), "/later"))
			l.RecordRead(gptbot(c.now(), ""), Read{At: c.now().UnixMilli(), Status: 200, Version: current})
			l.mu.Unlock()
			for _, sample := range l.Snapshot().row(t, "example.com", "GPTBot").Samples {
				if sample.Known != tc.want {
					t.Errorf("%s at %s: %s is known, want %s", sample.Path, Time(sample.At), sample.Known, tc.want)
				}
			}
		})
	}
}

// TestReadingsAreBounded keeps no more readings than it may while nobody can
// count them, and loses none.
func TestReadingsAreBounded(t *testing.T) {
	const writers, each = 8, 2 * maxReadings // more than can be noted
	l := New(newClock().now)
	l.mu.Lock()
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range each {
				l.RecordRead(gptbot(noon, ""), Read{At: noon.UnixMilli(), Status: 200})
			}
		})
	}
	for deadline := time.Now().Add(60 * time.Second); l.readings.noted.Load() < maxReadings+writers; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Error("the readings do not fill up")
			break
		}
	}
	if noted := l.readings.noted.Load(); noted > maxReadings+writers {
		t.Errorf("%d readings were noted, want at most %d and one for each goroutine", noted, maxReadings)
	}
	l.mu.Unlock()
	all.Wait()
	l.flush()
	if noted, counted := l.readings.noted.Load(), l.readings.counted.Load(); noted != writers*each || counted != noted {
		t.Errorf("%d readings were noted and %d counted, want %d", noted, counted, writers*each)
	}
}

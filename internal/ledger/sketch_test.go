package ledger

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// checkSketch compares a sketch with a naive count of the same occurrences.
func checkSketch(t *testing.T, s *Sketch[string], naive map[string]uint64, most int) {
	t.Helper()
	if len(s.Items) > most {
		t.Fatalf("%d items, want at most %d", len(s.Items), most)
	}
	for _, item := range s.Items {
		if n := naive[item.Key]; n > item.Count || n < item.Count-item.Error || item.Error > item.Count {
			t.Fatalf("%s: %d to %d by the sketch, %d in truth", item.Key, item.Count-item.Error, item.Count, n)
		}
	}
	for key, n := range naive {
		if s.index(key) < 0 && n > s.Floor {
			t.Fatalf("%s occurred %d times and is not there; the floor is %d", key, n, s.Floor)
		}
	}
}

// TestSketch compares sketches of all sizes with a naive count: also after
// merges, and the guaranteed error of N/k where none were merged.
func TestSketch(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		most, kinds := 1+random.IntN(20), 1+random.IntN(60)
		draw := func() string { return fmt.Sprint(int(random.ExpFloat64() * float64(kinds) / 4)) }
		both := make(map[string]uint64)
		var merged Sketch[string]
		for part := range 1 + random.IntN(4) {
			var s Sketch[string]
			naive := make(map[string]uint64)
			n := 1 + random.IntN(400)
			for i := range n {
				key := draw()
				naive[key]++
				both[key]++
				if item := s.add(key, int64(i), most); item != nil {
					item.Key = "" + key
				}
			}
			checkSketch(t, &s, naive, most)
			if s.Floor > uint64(n/most) {
				t.Fatalf("seed %d: the error is %d, want at most %d/%d", seed, s.Floor, n, most)
			}
			if part == 0 {
				merged = s.clone()
			} else {
				merged.merge(s, most)
			}
			checkSketch(t, &merged, both, most)
		}
	}
}

func TestSketchForgets(t *testing.T) {
	var s Sketch[string]
	hour := time.Hour.Milliseconds()
	for i, key := range []string{"a", "b", "c"} { // c displaces a
		s.add(key, int64(i)*hour, 2)
	}
	if got := fmt.Sprint(s.Items, s.Floor); got != "[{c 2 1 7200000 7200000} {b 1 0 3600000 3600000}] 1" {
		t.Errorf("the sketch is %s", got)
	}
	s.prune(3*hour, 90*time.Minute)
	if got := fmt.Sprint(s.Items, s.Floor); got != "[{c 2 1 7200000 7200000}] 1" {
		t.Errorf("the sketch is %s after b is too old", got)
	}
	s.prune(5*hour, 90*time.Minute)
	if len(s.Items) != 0 || s.Floor != 0 {
		t.Errorf("the sketch is %v after everything is too old", s)
	}
	s.add("d", 100*hour, 2) // by a clock that is wrong
	s.prune(6*hour, time.Hour)
	s.prune(8*hour, time.Hour)
	if len(s.Items) != 0 {
		t.Errorf("%v is kept for ever", s.Items)
	}
}

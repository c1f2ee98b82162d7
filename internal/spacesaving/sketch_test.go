package spacesaving

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
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
		if s.PositionOf(key) < 0 && n > s.Floor {
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
		if seed%2 == 0 {
			most, kinds = minIndexed+random.IntN(60), 1+random.IntN(600)
		}
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
				s.Add(key, 1, int64(i), most, strings.Clone)
			}
			checkSketch(t, &s, naive, most)
			if s.Floor > uint64(n/most) {
				t.Fatalf("seed %d: the error is %d, want at most %d/%d", seed, s.Floor, n, most)
			}
			if part == 0 {
				merged = s.Clone()
			} else {
				merged.Merge(s, most)
			}
			checkSketch(t, &merged, both, most)
		}
	}
}

func TestSketchForgets(t *testing.T) {
	var s Sketch[string]
	hour := time.Hour.Milliseconds()
	for i, key := range []string{"a", "b", "c"} { // c displaces a
		s.Add(key, 1, int64(i)*hour, 2, nil)
	}
	if got := fmt.Sprint(s.Items, s.Floor); got != "[{c 2 1 7200000 7200000} {b 1 0 3600000 3600000}] 1" {
		t.Errorf("the sketch is %s", got)
	}
	s.Prune(3*hour, 90*time.Minute)
	if got := fmt.Sprint(s.Items, s.Floor); got != "[{c 2 1 7200000 7200000}] 1" {
		t.Errorf("the sketch is %s after b is too old", got)
	}
	s.Prune(5*hour, 90*time.Minute)
	if len(s.Items) != 0 || s.Floor != 0 {
		t.Errorf("the sketch is %v after everything is too old", s)
	}
	s.Add("d", 1, 100*hour, 2, nil) // by a clock that is wrong
	s.Prune(6*hour, time.Hour)
	s.Prune(8*hour, time.Hour)
	if len(s.Items) != 0 {
		t.Errorf("%v is kept for ever", s.Items)
	}
}

// TestSketchSkewed compares sketches of skewed items, merged and not, with exact
// counts.
func TestSketchSkewed(t *testing.T) {
	for _, most := range []int{minIndexed, 2 * minIndexed} {
		random := rand.New(rand.NewPCG(1, 2))
		zipf := rand.NewZipf(random, 1.3, 1, 5000)
		var whole, merged Sketch[string]
		var parts [3]Sketch[string]
		exact := make(map[string]uint64)
		const total = 60000
		for i := range total {
			key := fmt.Sprint(zipf.Uint64())
			exact[key]++
			whole.Add(key, 1, 0, most, nil)
			parts[i%len(parts)].Add(key, 1, 0, most, nil)
		}
		for _, part := range parts {
			merged.Merge(part, most)
		}
		for name, s := range map[string]*Sketch[string]{"whole": &whole, "merged": &merged} {
			if len(s.Items) != most {
				t.Errorf("%s: %d items of %d", name, len(s.Items), most)
			}
			found := make(map[string]bool)
			for i, item := range s.Items {
				found[item.Key] = true
				if item.Count < exact[item.Key] || item.Count-item.Error > exact[item.Key] {
					t.Errorf("%s: %s was counted %d, at most %d too many; it is %d", name, item.Key, item.Count, item.Error, exact[item.Key])
				}
				if item.Error > uint64(total/most*2) {
					t.Errorf("%s: %s may be %d too many", name, item.Key, item.Error)
				}
				if s.PositionOf(item.Key) != i {
					t.Errorf("%s: %s is at %d by the index, and at %d", name, item.Key, s.PositionOf(item.Key), i)
				}
			}
			for key, n := range exact {
				if n > total/20 && !found[key] {
					t.Errorf("%s: %s is missing, with %d", name, key, n)
				}
			}
		}
	}
}

// BenchmarkAdd counts items that are all different, which costs most: each
// displaces another.
func BenchmarkAdd(b *testing.B) {
	for _, most := range []int{32, 2000} {
		b.Run(fmt.Sprint(most), func(b *testing.B) {
			var s Sketch[int]
			for i := 0; b.Loop(); i++ {
				s.Add(i, 1, int64(i), most, nil)
			}
		})
	}
}

// TestClean merges repaired sketches whose counts cannot be sums.
func TestClean(t *testing.T) {
	decode := func(floor uint64, items ...Item[string]) (s Sketch[string]) {
		s.Items, s.Floor = items, floor
		s.Clean(2, func(key *string) { *key = (*key)[:1] })
		return s
	}
	s := decode(math.MaxUint64, Item[string]{Key: "aa", Count: math.MaxUint64}, Item[string]{Key: "ab", Count: 1})
	s.Merge(decode(math.MaxUint64, Item[string]{Key: "b", Count: 1, Error: 2}, Item[string]{Key: "c", Count: math.MaxUint64, Error: math.MaxUint64}), 8)
	if len(s.Items) != 3 || s.Floor < maxCount {
		t.Errorf("%d items, floor %d", len(s.Items), s.Floor)
	}
	for _, item := range s.Items {
		if item.Error > item.Count || item.Count < maxCount {
			t.Errorf("%+v", item)
		}
	}
}

package cowmap

import (
	"maps"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

func TestMap(t *testing.T) {
	var m Map[string, int]
	if v, ok := m.Load("a"); v != 0 || ok || m.Len() != 0 || len(maps.Collect(m.All())) != 0 {
		t.Errorf("the zero Map has %v", maps.Collect(m.All()))
	}
	m.Delete("a")
	m.Store("a", 0)
	if v, ok := m.Load("a"); v != 0 || !ok {
		t.Error("a zero value is not there")
	}
	if v := m.LoadOrStore("a", func() int { t.Error("made though it is there"); return 1 }); v != 0 {
		t.Errorf("a is %d", v)
	}
	if v := m.LoadOrStore("b", func() int { return 2 }); v != 2 || m.Len() != 2 {
		t.Errorf("b is %d of %d", v, m.Len())
	}
	for range m.All() {
		m.Delete("a") // what is gone through stays as it was
		m.Store("c", 3)
	}
	if got := maps.Collect(m.All()); !maps.Equal(got, map[string]int{"b": 2, "c": 3}) {
		t.Errorf("left are %v", got)
	}
}

// TestAllStays writes to maps of few and of many entries while others go through them.
func TestAllStays(t *testing.T) {
	for n := 1; n <= 2*maxSlice; n++ {
		var m Map[int, int]
		for key := range n {
			m.Store(key, key)
		}
		want, all := maps.Collect(m.All()), m.All()
		m.Delete(0)
		m.Store(n-1, -1)
		m.Store(n, n)
		if got := maps.Collect(all); len(want) != n || !maps.Equal(got, want) {
			t.Errorf("of %d entries there are %v", n, got)
		}
	}
}

// TestMapModel compares a Map with a map, by chance.
func TestMapModel(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var m Map[int, int]
	model := make(map[int]int)
	for i := range 5000 {
		key := random.IntN(20)
		switch random.IntN(4) {
		case 0:
			m.Store(key, i)
			model[key] = i
		case 1:
			m.Delete(key)
			delete(model, key)
		case 2:
			if _, ok := model[key]; !ok {
				model[key] = i
			}
			if got := m.LoadOrStore(key, func() int { return i }); got != model[key] {
				t.Fatalf("%d is %d, want %d", key, got, model[key])
			}
		case 3:
			got, ok := m.Load(key)
			if want, has := model[key]; got != want || ok != has {
				t.Fatalf("%d is %d (%t), want %d (%t)", key, got, ok, want, has)
			}
		}
		if m.Len() != len(model) {
			t.Fatalf("%d entries, want %d", m.Len(), len(model))
		}
	}
	if !maps.Equal(maps.Collect(m.All()), model) {
		t.Error("not the same in the end")
	}
}

// TestTogether has goroutines ask for the same keys: each is made once, and all
// get that.
func TestTogether(t *testing.T) {
	var m Map[int, *int]
	var create atomic.Int64
	var all sync.WaitGroup
	got := make([][50]*int, 8)
	for i := range got {
		all.Go(func() {
			for key := range got[i] {
				got[i][key] = m.LoadOrStore(key, func() *int { create.Add(1); return &key })
			}
		})
	}
	all.Wait()
	for i := range got {
		if got[i] != got[0] {
			t.Error("not the same for all")
		}
	}
	if create.Load() != 50 {
		t.Errorf("%d made, want 50", create.Load())
	}
}

func TestLoadAllocatesNothing(t *testing.T) {
	var m Map[string, int]
	m.Store("a", 1)
	if n := testing.AllocsPerRun(100, func() { m.Load("a"); m.Load("b") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestOneTakesOneObject holds maps of one entry, of which there may be hundreds of thousands, to
// one object.
func TestOneTakesOneObject(t *testing.T) {
	var m *Map[string, int]
	if n := testing.AllocsPerRun(100, func() { m = new(Map[string, int]); m.Store("a", 1) }); n != 2 {
		t.Errorf("a map of one entry takes %v objects with itself", n)
	}
}

// BenchmarkLoad looks up one of some entries, which are as large as those of a crawler at a
// site.
func BenchmarkLoad(b *testing.B) {
	type key struct {
		crawler string
		kinds   [4]byte
	}
	for _, n := range []int{1, 4, 8, 9, 40} {
		var m Map[key, int]
		for i := range n {
			m.Store(key{"crawler" + strconv.Itoa(i), [4]byte{1, 2}}, i)
		}
		name := "crawler" + strconv.Itoa(n/2)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					m.Load(key{name, [4]byte{1, 2}})
				}
			})
		})
	}
}

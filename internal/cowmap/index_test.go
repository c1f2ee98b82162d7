package cowmap

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// thing is what an Index holds.
type thing struct{ key, value int }

func (t *thing) Key() int { return t.key }

// TestIndexModel compares an Index with a map, by chance, with several values in most shards.
func TestIndexModel(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var x Index[int, *thing]
	x.Delete(1)
	model := make(map[int]*thing)
	for i := range 20_000 {
		switch key := random.IntN(2000); random.IntN(3) {
		case 0, 1:
			one := &thing{key, i}
			x.Store(one)
			model[key] = one
		default:
			x.Delete(key)
			delete(model, key)
		}
		key := random.IntN(2000)
		if got := x.Load(key); got != model[key] {
			t.Fatalf("%d has %v, want %v", key, got, model[key])
		}
	}
	got := make(map[int]*thing)
	for one := range x.All() {
		got[one.key] = one
	}
	if !maps.Equal(got, model) {
		t.Errorf("there are %d, want %d", len(got), len(model))
	}
	for key := range model {
		x.Delete(key)
	}
	if rest := slices.Collect(x.All()); len(rest) > 0 {
		t.Errorf("left are %v", rest)
	}
	for range x.All() {
		t.Error("one is left")
	}
}

// TestIndexTogether has some write while others look for what stays.
func TestIndexTogether(t *testing.T) {
	var x Index[int, *thing]
	for key := range 1000 {
		x.Store(&thing{key: key})
	}
	var all sync.WaitGroup
	for part := range 4 {
		all.Go(func() {
			for i := range 2000 {
				key := 1000 + 4*i + part
				x.Store(&thing{key: key})
				x.Delete(key - 40)
				if one := x.Load(i % 1000); part > 1 && i%1000 < 960 && (one == nil || one.key != i%1000) {
					t.Errorf("%d has %v", i%1000, one)
				}
			}
		})
	}
	all.Wait()
	for range x.All() {
		break // which All has to notice
	}
}

func TestIndexLoadAllocatesNothing(t *testing.T) {
	var x Index[int, *thing]
	x.Store(&thing{key: 1})
	if n := testing.AllocsPerRun(100, func() { x.Load(1); x.Load(2) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

package cowmap

import (
	"maps"
	"strconv"
	"testing"
)

// TestLarge compares a LargeMap with a map.
func TestLarge(t *testing.T) {
	var m LargeMap[string, int]
	model := make(map[string]int)
	for i := range 2000 {
		key := strconv.Itoa(i % 700)
		switch {
		case i%11 == 0:
			m.Delete(key)
			delete(model, key)
		case i%3 == 0:
			if _, ok := model[key]; !ok {
				model[key] = i
			}
			if got := m.LoadOrStore(key, func() int { return i }); got != model[key] {
				t.Fatalf("%s is %d, want %d", key, got, model[key])
			}
		default:
			m.Store(key, i)
			model[key] = i
		}
		got, ok := m.Load(key)
		if want, has := model[key]; got != want || ok != has {
			t.Fatalf("%s is %d, %t; want %d, %t", key, got, ok, want, has)
		}
	}
	if got := maps.Collect(m.All()); !maps.Equal(got, model) {
		t.Errorf("%v, want %v", got, model)
	}
	for range m.All() {
		break // which All has to notice
	}
}

func TestLargeLoadAllocatesNothing(t *testing.T) {
	type key struct{ host, path string }
	var m LargeMap[key, *int]
	m.Store(key{"a", "b"}, new(int))
	if n := testing.AllocsPerRun(100, func() { m.Load(key{"a", "b"}); m.Load(key{"a", "c"}) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

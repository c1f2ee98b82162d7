package cowmap

import (
	"maps"
	"strconv"
	"testing"
)

// TestSharded compares a Sharded with a map.
func TestSharded(t *testing.T) {
	var m Sharded[string, int]
	model := make(map[string]int)
	for i := range 2000 {
		key := strconv.Itoa(i % 700)
		switch {
		case i%5 == 0:
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
		if want, has := model[key]; got != want || ok != has || m.Len() != len(model) {
			t.Fatalf("%s is %d, %t, of %d; want %d, %t, of %d", key, got, ok, m.Len(), want, has, len(model))
		}
	}
	if got := maps.Collect(m.All()); !maps.Equal(got, model) {
		t.Errorf("%v, want %v", got, model)
	}
	for range m.All() {
		break // which All has to notice
	}
}

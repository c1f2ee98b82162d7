package sample

import (
	"testing"
	"time"
)

func TestClamp(t *testing.T) {
	for n, want := range []int{1, 1, 2, 3, 3, 3} {
		if got := clamp(n, 1, 4); got != want {
			t.Errorf("%d becomes %d, want %d", n, got, want)
		}
	}
}

func TestAhead(t *testing.T) {
	if got := ahead(3, 8); got != 24-4 {
		t.Error(got)
	}
}

func TestCount(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	if all, most := count([]string{"a", "b", "a"}); all["wa"] != 2 || most[0] != 3 {
		t.Error(all, most)
	}
}

func TestWithout(t *testing.T) { t.Error("it fails without a mutant") }

var _ = []any{between, time.Now, atLeast[int], (*stack[int]).full}

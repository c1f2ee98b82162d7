package publication

import (
	"fmt"
	"testing"
)

func TestCohort(t *testing.T) {
	change, other := &Change{ID: "00112233aabbccdd"}, &Change{ID: "ffeeddcc99887766"}
	const operators = 2000
	served := func(c *Change, percent int) (names map[string]bool) {
		names = make(map[string]bool)
		for i := range operators {
			if name := fmt.Sprint("operator ", i); c.IsServed(name, false, percent) {
				names[name] = true
			}
		}
		return names
	}
	var before map[string]bool
	for _, percent := range []int{0, 1, 5, 10, 50, 99, 100} {
		now := served(change, percent)
		if share := 100 * float64(len(now)) / operators; share < float64(percent)-3 || share > float64(percent)+3 || (percent == 0 || percent == 100) && share != float64(percent) {
			t.Errorf("%d percent: %.1f are served it", percent, share)
		}
		for name := range before {
			if !now[name] {
				t.Errorf("%s is not served it any more at %d percent", name, percent)
			}
		}
		before = now
	}
	same := 0
	others := served(other, 10)
	for name := range served(change, 10) {
		if others[name] {
			same++
		}
	}
	if same > operators/25 {
		t.Errorf("%d of %d operators begin with both changes", same, operators/10)
	}
	for _, tc := range []struct {
		operator string
		searches bool
		percent  int
		want     bool
	}{
		{"Google", true, 99, false}, {"Google", true, 100, true},
		{"", false, 100, false}, {"OpenAI", false, 0, false}, {"OpenAI", false, -1, false},
	} {
		if got := change.IsServed(tc.operator, tc.searches, tc.percent); got != tc.want {
			t.Errorf("%+v: got %t", tc, got)
		}
	}
}

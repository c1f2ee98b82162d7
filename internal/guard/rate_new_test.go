package guard

import (
	"fmt"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/rate"
)

// TestLimitOfANewName checks that a limit of a crawler that only the limit names counts
// the requests of all networks together. The limit of a class counts a crawler without
// a name per network.
func TestLimitOfANewName(t *testing.T) {
	settings := *slow
	settings.Limits = []rate.Limit{limitOf(t, "token:AcmeBot", 6), limitOf(t, "crawler", 2)}
	g := testGuard(t, options{Rate: &settings}, serving(""))
	for name, want := range map[string]int{"AcmeBot": 6, "OtherBot": 20} {
		passes := 0
		for n := range 40 {
			r := from(requestBy(name+"/1.0 (+https://acme.example/bot)", "/"), fmt.Sprintf("192.0.%d.1", n%10))
			if g.Judge(r).Rate.State == rate.WithinRate {
				passes++
			}
		}
		if passes != want {
			t.Errorf("%s: %d passed, want %d", name, passes, want)
		}
	}
}

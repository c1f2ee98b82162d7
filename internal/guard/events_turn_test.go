package guard

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"go.uber.org/zap"
)

// TestEventsInTurn checks that the events of a site are emitted in order, however slow
// a handler is, and that other events do not wait.
func TestEventsInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		emitted, release := make(chan string, 10), make(chan struct{})
		e := &Events{emitting: make(chan struct{}, maxEmitting), logger: zap.NewNop(), emit: func(name string, data map[string]any) {
			if name == "slow" {
				<-release
			}
			emitted <- fmt.Sprint(name, " ", data["site"], " ", data["crawler"])
		}}
		e.Send("slow", map[string]any{"site": "a.test"})
		e.Send("next", map[string]any{"site": "a.test"})
		e.Send("last", map[string]any{"site": "a.test"})
		e.Send("other", map[string]any{"site": "b.test"})
		e.Send("violation", map[string]any{"site": "a.test", "crawler": "GPTBot"})
		synctest.Wait()
		var first, then []string
		for len(emitted) > 0 {
			first = append(first, <-emitted)
		}
		close(release)
		synctest.Wait()
		for len(emitted) > 0 {
			then = append(then, <-emitted)
		}
		if slices.Sort(first); !slices.Equal(first, []string{"other b.test <nil>", "violation a.test GPTBot"}) {
			t.Errorf("before a handler has ended: %q", first)
		}
		if want := []string{"slow a.test <nil>", "next a.test <nil>", "last a.test <nil>"}; !slices.Equal(then, want) {
			t.Errorf("after that: %q, want %q", then, want)
		}
		if len(e.last) != 0 || len(e.emitting) != 0 {
			t.Errorf("%d are waited for, and %d under way", len(e.last), len(e.emitting))
		}
	})
}

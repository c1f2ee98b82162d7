package registry

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/remote/remotetest"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// Whatever becomes of an operation of the storage, the registry that was read is in force;
// after a restart while its server is down it is the last one that was stored, whole; and
// once the server answers all is as without the fault.
func TestEachOperationOfARegistry(t *testing.T) {
	lives := func(f *storetest.Faulty) {
		synctest.Test(t, func(t *testing.T) {
			source := remotetest.NewSource("https://names.test/registry.json", registryOf("ABot"), nil)
			r := read(t, f, source)
			next(5 * time.Minute)
			source.SetContent(registryOf("ABot", "BBot"), nil)
			next(2 * time.Hour)
			r.has(t, "ABot BBot")
			r.end()
			source.SetContent("", errDown)
			r = read(t, f.Storage, source)
			want := []string{"ABot BBot"}
			if f.Crash {
				want = append(want, "ABot", "nothing")
			}
			if got := r.Content().names(); !slices.Contains(want, got) {
				t.Errorf("%v: the next one has %s, want %q", f, got, want)
			}
			if !f.Crash {
				r.end()
				return
			}
			source.SetContent(registryOf("ABot", "BBot"), nil)
			next(2 * time.Hour)
			r.has(t, "ABot BBot")
			r.end()
			source.SetContent("", errDown)
			r = read(t, f.Storage, source)
			r.has(t, "ABot BBot")
			r.end()
		})
	}
	clean := &storetest.Faulty{Storage: storetest.New()}
	lives(clean)
	faults := storetest.Faults(clean.Ops())
	if len(faults) < 15 {
		t.Fatalf("%d faults only: %q", len(faults), clean.Ops())
	}
	for i := range faults {
		faults[i].Storage = storetest.New()
		lives(&faults[i])
	}
}

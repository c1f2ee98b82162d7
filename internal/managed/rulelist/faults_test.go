package rulelist

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// Whatever becomes of an operation of the storage, the list that was read is in force;
// after a restart while its server is down it is the last one that was stored, whole; and
// once the server answers all is as without the fault.
func TestEachOperationOfAList(t *testing.T) {
	lives := func(f *storetest.Faulty) {
		synctest.Test(t, func(t *testing.T) {
			r := read(t, f, list("a"), nil)
			next(5 * time.Minute)
			r.source.Say(list("a", "b"), nil)
			next(2 * time.Hour)
			r.has(t, "a b")
			r.end()
			r = read(t, f.Storage, "", errDown)
			want := []string{"a b"}
			if f.Crash {
				want = append(want, "a", "nothing")
			}
			if got := r.Good().ids(); !slices.Contains(want, got) {
				t.Errorf("%v: the next one has %s, want %q", f, got, want)
			}
			r.source.Say(list("a", "b"), nil)
			next(2 * time.Hour)
			r.has(t, "a b")
			r.end()
			r = read(t, f.Storage, "", errDown)
			r.has(t, "a b")
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

package simulate

import (
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// days is the length of a world.
const days = 30

// TestWorlds runs worlds and checks the invariants.
func TestWorlds(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1000)) // a world is small and short-lived
	worlds, first := number(t, "SIMULATE_WORLDS", 10), number(t, "SIMULATE_SEED", 1)
	began := time.Now()
	var next atomic.Int64
	var all counts
	var mu sync.Mutex // guards all
	t.Run("worlds", func(t *testing.T) {
		for worker := range min(worlds, runtime.GOMAXPROCS(0)) {
			t.Run(strconv.Itoa(worker), func(t *testing.T) {
				t.Parallel()
				for seed := next.Add(1); seed <= int64(worlds) && !t.Failed(); seed = next.Add(1) {
					w := holds(t, newPlan(uint64(first)+uint64(seed)-1, days))
					mu.Lock()
					all.add(w.counts)
					mu.Unlock()
				}
			})
		}
	})
	years := float64(all.siteDays) / 365
	t.Logf("%d worlds of %d days, %.1f site-years in %v, %.2f in a second: %d events, %d pages served to compliant crawlers, %d to crawlers without a copy, %d blocked, %d slowed",
		worlds, days, years, time.Since(began).Round(time.Second), years/time.Since(began).Seconds(), all.events, all.pages, all.strangers, all.blocked, all.slowed)
	if !t.Failed() && (all.pages < worlds*100 || all.blocked < worlds || all.strangers < worlds) {
		t.Errorf("too few events: %+v", all)
	}
}

// holds runs a plan. It fails the test with the story if an invariant is violated.
func holds(t *testing.T, p plan) *world {
	w := simulate(t, p)
	w.counts.siteDays = p.days * p.hosts
	if w.failure == "" {
		return w
	}
	p.tells = true
	smaller := simulate(t, p)
	if os.Getenv("SIMULATE_SHRINK") != "0" {
		smaller = shrink(t, p, smaller)
	}
	t.Fatalf("seed %d: %s\n%d instances, verified: %t, stored: %t, change guard: %t, managed: %t, bases: %t, rates: %t, clocks set: %t, redirects: %t, limits: %t, stamps: %t, twins: %t, tenants: %t\n%s", p.seed, smaller.failure, p.instances, p.verifies, p.stores, p.guards, p.manages, p.builds, p.holdsRates, p.setsClocks, p.redirects, p.limits, p.stamps, p.twins, p.tenants, strings.Join(smaller.story, "\n"))
	return nil
}

// simulate runs a plan in a synctest bubble.
func simulate(t *testing.T, p plan) (w *world) {
	synctest.Test(t, func(t *testing.T) { w = run(t, p) })
	return w
}

// shrink removes events from a failing plan as long as it still fails, and returns the
// last world that failed.
func shrink(t *testing.T, p plan, failed *world) *world {
	p.events = p.events[:failed.counts.events]
	for size := len(p.events) / 2; size > 0; size /= 2 {
		for from := 0; from+size <= len(p.events); {
			less := p
			less.events = slices.Delete(slices.Clone(p.events), from, from+size)
			if w := simulate(t, less); w.failure != "" {
				p, failed = less, w
				p.events = p.events[:w.counts.events]
				continue
			}
			from += size
		}
	}
	return failed
}

// number reads a number from an environment variable.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

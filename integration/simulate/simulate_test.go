package simulate

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
)

// days is how long a world lasts.
const days = 30

// TestWorlds lets worlds happen and holds them against the invariants.
func TestWorlds(t *testing.T) {
	worlds, first := number(t, "SIMULATE_WORLDS", 10), number(t, "SIMULATE_SEED", 1)
	var all counts
	siteDays := 0
	for seed := range worlds {
		p := newPlan(uint64(first+seed), days)
		w := simulate(t, p)
		all.events += w.counts.events
		all.pages += w.counts.pages
		all.blocked += w.counts.blocked
		all.strangers += w.counts.strangers
		siteDays += days * p.hosts
		if w.failure != "" {
			smaller := w
			if os.Getenv("SIMULATE_SHRINK") != "0" {
				smaller = shrink(t, p, w)
			}
			t.Fatalf("seed %d: %s\n%d instances, verified: %t, stored: %t, change guard: %t\n%s", p.seed, smaller.failure, p.instances, p.verifies, p.stores, p.guards, strings.Join(smaller.story, "\n"))
		}
	}
	t.Logf("%d worlds of %d days, %.1f site-years: %d events, %d pages served to who keeps to the protocol, %d to strangers, %d refused to who does not", worlds, days, float64(siteDays)/365, all.events, all.pages, all.strangers, all.blocked)
	if all.pages < worlds*100 || all.blocked < worlds || all.strangers < worlds {
		t.Errorf("too little happened: %+v", all)
	}
}

// simulate runs a plan in a bubble.
func simulate(t *testing.T, p plan) (w *world) {
	synctest.Test(t, func(t *testing.T) { w = run(t, p) })
	return w
}

// shrink leaves out of a world that fails what it fails without, and returns the last one
// that does.
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

// number reads a number from the environment.
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

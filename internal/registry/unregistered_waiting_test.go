package registry

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestRecordWaitsForNobody records visits while somebody else, who has lost the processor,
// counts one: none is lost, and none comes before one of before.
func TestRecordWaitsForNobody(t *testing.T) {
	b := new(UnregisteredNames)
	b.mu.Lock()
	visits(b, maxQueued/2, "Mozilla/5.0 (compatible; ThinkHarvestBot/1.0; +https://think.test/bot)", false)
	visits(b, maxQueued/2, "Quuxle/1.0", false)
	if len(b.names) != 0 {
		t.Errorf("%d names are counted by others", len(b.names))
	}
	if b.enqueue(UnregisteredRequest{}) {
		t.Errorf("more than %d visits wait", maxQueued)
	}
	b.mu.Unlock()
	visits(b, 1, "Quuxle/1.0", false)
	if b.queue.Load() != nil || b.queueLength.Load() != 0 {
		t.Errorf("%d visits wait still", b.queueLength.Load())
	}
	got := make(map[string]uint64)
	for _, p := range b.Proposals(uaident.Default()) {
		got[p.Name] = p.Requests
		if !p.FirstSeen.Equal(start) {
			t.Errorf("%s was first seen at %v, want %v", p.Name, p.FirstSeen, start)
		}
	}
	if got["ThinkHarvestBot"] != maxQueued/2 || got["Quuxle"] != maxQueued/2+1 {
		t.Errorf("%v", got)
	}
}

func TestVisitsFromManySides(t *testing.T) {
	b := new(UnregisteredNames)
	var sides sync.WaitGroup
	for side := range 4 {
		sides.Go(func() { visits(b, 2000, fmt.Sprintf("%sBot/1.0", strings.Repeat("Q", side+3)), false) })
	}
	sides.Wait()
	for _, p := range b.Proposals(uaident.Default()) {
		if p.Requests != 2000 {
			t.Errorf("%s: %d requests, want 2000", p.Name, p.Requests)
		}
	}
}

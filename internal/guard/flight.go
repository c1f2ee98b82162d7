package guard

import (
	"cmp"
	"sync/atomic"

	"github.com/robotsguard/caddy-robots-guard/internal/rate"
)

// heldResources has what a request holds until its response ends: a slot among the concurrent
// requests of its crawler, and one count of the requests in flight. It is a field of the judgement
// to avoid an allocation. The zero value holds nothing.
type heldResources struct {
	slot     *rate.Concurrency // slot was acquired by this guard. It is nil if there is none.
	heldSlot *rate.Concurrency // heldSlot was acquired by this guard or an earlier one.
	inFlight *atomic.Int64     // inFlight is the counter with this request. It is nil if there is none.
	isEnded  uint32            // isEnded is 1 after release, which other goroutines may call.
}

// setSlots sets the slot of this guard, nil for none, and the slot of an earlier guard.
func (f *heldResources) setSlots(slot, earlier *rate.Concurrency) {
	f.slot, f.heldSlot = slot, cmp.Or(slot, earlier)
}

// releaseSlot frees the slot of this guard.
func (f *heldResources) releaseSlot() {
	if f.slot != nil {
		f.slot.ReleaseSlot()
	}
	f.slot, f.heldSlot = nil, nil
}

// countInFlight counts the request in a number of requests in flight until release.
func (f *heldResources) countInFlight(inFlight *atomic.Int64) {
	inFlight.Add(1)
	f.inFlight = inFlight
}

// release frees the slot of this guard and no longer counts the request. Later calls do nothing.
func (f *heldResources) release() {
	if !atomic.CompareAndSwapUint32(&f.isEnded, 0, 1) {
		return
	}
	f.releaseSlot() // A guard in an error route acquires its own slot.
	if f.inFlight != nil {
		f.inFlight.Add(-1)
	}
}

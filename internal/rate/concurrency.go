package rate

import (
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// concurrentRetryAfter is the Retry-After for a request over the concurrent limit. The guard does
// not know when running requests will end, so the time only has to avoid constant retries.
const concurrentRetryAfter = 10 * time.Second

// Concurrency counts the running requests of a crawler. Each of them holds a slot, and the caller
// passes the number of slots. The zero value has no requests. It is safe for concurrent use.
type Concurrency struct {
	inUse atomic.Int32
	// For the slots of a network, these are the slots of its claimed name. Otherwise it is nil.
	nameConcurrency atomic.Pointer[Concurrency]
}

// acquireSlot acquires a slot if fewer than limit slots are in use, and reports whether it acquired
// one.
func (p *Concurrency) acquireSlot(limit int) bool {
	for {
		n := p.inUse.Load()
		if int(n) >= limit {
			return false
		}
		if p.inUse.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// ReleaseSlot releases the slot of a request that has ended. Call ReleaseSlot once for each
// acquired slot.
func (p *Concurrency) ReleaseSlot() {
	p.inUse.Add(-1)
	if nameSlots := p.nameConcurrency.Load(); nameSlots != nil {
		nameSlots.releaseSlotIfUsed()
	}
}

// releaseSlotIfUsed releases a slot, unless all slots are free already. The budget of a claimed
// name may have been evicted in the meantime, with its used slots.
func (p *Concurrency) releaseSlotIfUsed() {
	for {
		n := p.inUse.Load()
		if n <= 0 || p.inUse.CompareAndSwap(n, n-1) {
			return
		}
	}
}

// acquireSlotOfNetworkAndName acquires a slot of a network (p) and a slot of the network's claimed
// name (all), and returns true. If p or all has no free slot, acquireSlotOfNetworkAndName acquires
// none and returns false. The name has limit slots. A network gets at most half of limit, rounded
// up, so one network cannot occupy all slots unless limit is 1.
func (p *Concurrency) acquireSlotOfNetworkAndName(all *Concurrency, limit int) bool {
	if !p.acquireSlot((limit + 1) / 2) {
		return false
	}
	if !all.acquireSlot(limit) {
		p.inUse.Add(-1)
		return false
	}
	p.nameConcurrency.Store(all)
	return true
}

// acquireSlot acquires a slot for a request, and returns the budget with the slot. slotsFull is
// true if no slot is free. Slots belong to a crawler and not to a limit, so that running requests
// still occupy their slots after a reload with another limit.
//
// All clients with the same claimed name share a set of slots, of the same size as the slots of the
// verified crawler.
func (b *Budgets) acquireSlot(site uint64, now time.Duration, client *Client, rules *Rules) (budget *budget, slotsFull bool) {
	const salt = 0x9e3779b97f4a7c15 // The salt makes the keys of slots different from the keys of rates.
	p, site := b.tablesForClient(client), mixBits(site^salt)
	name, isShared := b.hashName(site, client.Token), false
	switch {
	case client.Token == "" || client.Identity == verify.Spoofed:
		budget = p.networks.findBudget(b.hashNetwork(site, client.Network), now)
	case client.Identity == verify.Verified:
		budget = p.verified.findBudget(name, now)
	default:
		budget, isShared = p.networks.findBudget(b.hashNetwork(name, client.Network), now), !client.IsSharedSoftware
	}
	switch {
	case client.HeldSlot == &budget.concurrent:
		return budget, false
	case isShared:
		return budget, !budget.concurrent.acquireSlotOfNetworkAndName(&p.claimed.findBudget(name, now).concurrent, rules.Concurrent)
	}
	return budget, !budget.concurrent.acquireSlot(rules.Concurrent)
}

// keepOrReleaseSlot keeps the slot of a request within the rate, for the caller to release. It
// releases the slot of a request over the rate, in every mode, so that observe reports the same as
// enforce.
func (p *Pace) keepOrReleaseSlot(budget *budget, client *Client, slotsFull, isStopped bool) {
	switch {
	case budget == nil || slotsFull || client.HeldSlot == &budget.concurrent:
	case isStopped:
		budget.concurrent.ReleaseSlot()
	default:
		p.Slot = &budget.concurrent
	}
}

package rate

import (
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// concurrentWait is what a crawler is asked to wait for a place. Nobody knows when one is
// given back; it is long enough that a crawler does not come to look for one all the
// time.
const concurrentWait = 10 * time.Second

// Concurrency counts the concurrent requests of a crawler. Several goroutines may use it at once. The
// zero value has no requests.
type Concurrency struct {
	inUse           atomic.Int32
	nameConcurrency atomic.Pointer[Concurrency] // the places of the claimed name, if these are the places of a network; else nil
}

// acquire takes one of most places and reports whether there was a free one.
func (p *Concurrency) acquire(limit int) bool {
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

// Release gives back the place of a request. Call it once for each taken place.
func (p *Concurrency) Release() {
	p.inUse.Add(-1)
	if all := p.nameConcurrency.Load(); all != nil {
		all.releaseOne()
	}
}

// releaseOne gives back a place unless all are free. The budget of a claimed name may have been
// evicted in the meantime, with its taken places.
func (p *Concurrency) releaseOne() {
	for {
		n := p.inUse.Load()
		if n <= 0 || p.inUse.CompareAndSwap(n, n-1) {
			return
		}
	}
}

// acquireBoth takes a place of a network and a place of its claimed name. A network gets at most half
// of the places of the name, so that it cannot shut out other networks.
func (p *Concurrency) acquireBoth(all *Concurrency, limit int) bool {
	if !p.acquire((limit + 1) / 2) {
		return false
	}
	if !all.acquire(limit) {
		p.inUse.Add(-1)
		return false
	}
	p.nameConcurrency.Store(all)
	return true
}

// acquireSlot takes a place for a request, if there is one; full says that there is none. It
// returns of whom the place is. The places are those of the crawler and not of a limit,
// so that a reload with another limit knows of the requests that are under way.
//
// Who claims to be a crawler shares the places with all who do: there are no more of
// these than of one that is verified.
func (b *Budgets) acquireSlot(site uint64, now time.Duration, client *Client, rules *Rules) (budget *budget, full bool) {
	const salt = 0x9e3779b97f4a7c15 // separates the keys of places from those of budgets in one table
	p, site := b.tablesFor(client), mix(site^salt)
	name, isShared := b.hashName(site, client.Token), false
	switch {
	case client.Token == "" || client.Identity == verify.Spoofed:
		budget = p.networks.find(b.hashNetwork(site, client.Network), now)
	case client.Identity == verify.Verified:
		budget = p.verified.find(name, now)
	default:
		budget, isShared = p.networks.find(b.hashNetwork(name, client.Network), now), !client.RunByMany
	}
	switch {
	case client.HeldSlot == &budget.concurrent:
		return budget, false
	case isShared:
		return budget, !budget.concurrent.acquireBoth(&p.claimed.find(name, now).concurrent, rules.Concurrent)
	}
	return budget, !budget.concurrent.acquire(rules.Concurrent)
}

// keepOrReleaseSlot gives back the place of a request that is over the rate, in every mode, so that observe
// reports the same as enforce.
func (p *Pace) keepOrReleaseSlot(budget *budget, client *Client, full, stops bool) {
	switch {
	case budget == nil || full || client.HeldSlot == &budget.concurrent:
	case stops:
		budget.concurrent.Release()
	default:
		p.Slot = &budget.concurrent
	}
}

package rate

import (
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// placeWait is what a crawler is asked to wait for a place. Nobody knows when one is
// given back; it is long enough that a crawler does not come to look for one all the
// time.
const placeWait = 10 * time.Second

// Places counts the concurrent requests of a crawler. Several goroutines may use it at once. The
// zero value has no requests.
type Places struct {
	taken atomic.Int32
	all   atomic.Pointer[Places] // the places of the claimed name, if these are the places of a network; else nil
}

// take takes one of most places and reports whether there was a free one.
func (p *Places) take(of int) bool {
	for {
		n := p.taken.Load()
		if int(n) >= of {
			return false
		}
		if p.taken.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Leave gives back the place of a request. Call it once for each taken place.
func (p *Places) Leave() {
	p.taken.Add(-1)
	if all := p.all.Load(); all != nil {
		all.giveBack()
	}
}

// giveBack gives back a place unless all are free. The budget of a claimed name may have been
// evicted in the meantime, with its taken places.
func (p *Places) giveBack() {
	for {
		n := p.taken.Load()
		if n <= 0 || p.taken.CompareAndSwap(n, n-1) {
			return
		}
	}
}

// takeOf takes a place of a network and a place of its claimed name. A network gets at most half
// of the places of the name, so that it cannot shut out other networks.
func (p *Places) takeOf(all *Places, of int) bool {
	if !p.take((of + 1) / 2) {
		return false
	}
	if !all.take(of) {
		p.taken.Add(-1)
		return false
	}
	p.all.Store(all)
	return true
}

// enter takes a place for a request, if there is one; full says that there is none. It
// returns of whom the place is. The places are those of the crawler and not of a limit,
// so that a reload with another limit knows of the requests that are under way.
//
// Who claims to be a crawler shares the places with all who do: there are no more of
// these than of one that is verified.
func (b *Budgets) enter(site uint64, now time.Duration, who *Spender, rules *Rules) (of *budget, full bool) {
	const salt = 0x9e3779b97f4a7c15 // separates the keys of places from those of budgets in one table
	p, site := b.tablesOf(who), mix(site^salt)
	name, isShared := b.hashName(site, who.Token), false
	switch {
	case who.Token == "" || who.Identity == verify.Spoofed:
		of = p.networks.find(b.hashNetwork(site, who.Network), now)
	case who.Identity == verify.Verified:
		of = p.verified.find(name, now)
	default:
		of, isShared = p.networks.find(b.hashNetwork(name, who.Network), now), !who.Many
	}
	switch {
	case who.Holds == &of.busy:
		return of, false
	case isShared:
		return of, !of.busy.takeOf(&p.claimed.find(name, now).busy, rules.Concurrent)
	}
	return of, !of.busy.take(rules.Concurrent)
}

// settle gives back the place of a request that is over the rate, in every mode, so that observe
// reports the same as enforce.
func (p *Pace) settle(of *budget, who *Spender, full, stops bool) {
	switch {
	case of == nil || full || who.Holds == &of.busy:
	case stops:
		of.busy.Leave()
	default:
		p.Place = &of.busy
	}
}

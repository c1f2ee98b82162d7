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

// Places are those of a crawler for requests that are under way at once. Several
// goroutines may use Places at once. The zero Places are all free.
type Places struct {
	taken atomic.Int32
	all   atomic.Pointer[Places] // those of all networks that claim a name, of which these are a part; nil if there is no such
}

// take takes a place, of so many, and reports whether there was one.
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

// Leave gives a place back that a request has taken. It is to be called once for each.
func (p *Places) Leave() {
	p.taken.Add(-1)
	if all := p.all.Load(); all != nil {
		all.giveBack()
	}
}

// giveBack gives back a place, unless all are free: those of all who claim a name may have
// been put out meanwhile, with the place that was taken there.
func (p *Places) giveBack() {
	for {
		n := p.taken.Load()
		if n <= 0 || p.taken.CompareAndSwap(n, n-1) {
			return
		}
	}
}

// takeOf takes a place of a network's and one of all that claim the name, of which there
// are so many. One network gets half of them, so that it cannot shut out all others.
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
	const salt = 0x9e3779b97f4a7c15 // tells them from budgets, in the same tables
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

// settle gives the place of a request back that is one too many, whatever is done about
// it: by what is observed nothing else is to come than by what is enforced.
func (p *Pace) settle(of *budget, who *Spender, full, stops bool) {
	switch {
	case of == nil || full || who.Holds == &of.busy:
	case stops:
		of.busy.Leave()
	default:
		p.Place = &of.busy
	}
}

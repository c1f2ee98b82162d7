package rate

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

const (
	// maxShared bounds the crawlers of which an instance tells others what it has seen,
	// and those that it takes in of each other instance.
	maxShared = 2 * maxCrawlers
	// maxPeers bounds the instances that are listened to.
	maxPeers = 256
	// LookEvery is how often instances write what they have counted, and look at what others
	// have written.
	LookEvery = 15 * time.Second
	// peerLasts is for how long counts of another instance are of use after they came.
	peerLasts = 4 * LookEvery
	// lateBy is how old counts are at most when they come: the time between two looks, and
	// as much again for a slow storage.
	lateBy = 2 * LookEvery
)

// errCounts says that what was stored is nothing that [Budgets.Export] has returned.
var errCounts = errors.New("invalid request counts")

// counts are what an instance has seen.
type counts struct {
	Saved    time.Time      `json:"saved"`
	Requests map[string]int `json:"requests"` // in the last window, by the budget and that window in hexadecimal
}

// peers are the other instances that share a site. The zero value knows none, and then
// nothing is counted for others.
type peers struct {
	sharing atomic.Bool
	mu      sync.Mutex
	all     map[string]*peer // by instance
	told    bool             // some budget was told of others' requests
	named   []namedBudget    // those of crawlers by name, with some that were put out since
}

// namedBudget is the budget of a crawler by name, with its table.
type namedBudget struct {
	*budget
	in *table
}

// peer is what another instance has counted last.
type peer struct {
	saved    time.Time     // by its clock
	heard    time.Duration // by ours, when that has changed last
	live     bool          // it has changed since it was seen first
	requests map[uint64]int
}

// nameOf returns a name for what a crawler spends at a site by what the owner has set,
// which is the same on all instances, 0 for budgets that are not shared.
func nameOf(who *Spender, limit Rule) uint64 {
	if who.Invented || who.Token == "" || who.Identity == verify.Spoofed {
		return 0
	}
	text := fmt.Sprintf("%s %q %t %d %d", who.Site.Quoted(), who.Token, who.Identity == verify.Verified, limit.Interval, limit.Burst)
	sum := sha256.Sum256([]byte(text))
	return max(1, binary.LittleEndian.Uint64(sum[:8]))
}

// told returns the name by which others are told what was counted, which is another one for
// each length of a window: while a configuration with another comes to one instance after
// the other, none takes what was counted in an hour for that of a minute.
func (b *budget) told() uint64 { return mix(b.name.Load() ^ uint64(b.length.Load())) }

// name gives a budget the name by which other instances know it.
func (p *peers) name(of *budget, in *table, name uint64) {
	if name == 0 || !of.name.CompareAndSwap(0, name) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.named) == cap(p.named) {
		p.forget()
	}
	p.named = append(p.named, namedBudget{of, in})
}

// forget drops the budgets that were put out. p.mu must be held.
func (p *peers) forget() {
	p.named = slices.DeleteFunc(p.named, func(of namedBudget) bool { return !of.in.has(of.budget) })
}

// Share says whether there are other instances. While there are, requests are also
// counted for them, and it is to be said again and again: by that those are forgotten
// that tell nothing new.
func (b *Budgets) Share(at time.Time, others bool) {
	before := b.peers.sharing.Swap(others)
	switch {
	case others:
		b.tell(at)
	case before:
		b.peers.mu.Lock()
		defer b.peers.mu.Unlock()
		for _, of := range b.peers.named {
			of.others.Store(0)
		}
	}
}

// Export returns as bytes, for Import, how often this instance was asked in the last
// window by each crawler; nil if by none.
func (b *Budgets) Export(at time.Time) ([]byte, error) {
	now := max(0, at.Sub(b.start))
	c := counts{Saved: at, Requests: make(map[string]int)}
	b.peers.mu.Lock()
	b.peers.forget()
	for _, of := range b.peers.named {
		if n := of.recent(now); n > 0 && len(c.Requests) < maxShared {
			c.Requests[strconv.FormatUint(of.told(), 16)] = n
		}
	}
	b.peers.mu.Unlock()
	if len(c.Requests) == 0 {
		return nil, nil
	}
	return json.Marshal(c)
}

// Import takes in what another instance has counted. It is of use for a minute after it
// has changed last: an instance that has ended tells nothing new, whatever its clock
// said. What is not what Export returns is an error, and changes nothing.
func (b *Budgets) Import(instance string, data []byte, at time.Time) error {
	var c counts
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("%w: %w", errCounts, err)
	}
	if len(c.Requests) > maxShared {
		return fmt.Errorf("%w: there are %d, and at most %d", errCounts, len(c.Requests), maxShared)
	}
	requests := make(map[uint64]int, len(c.Requests))
	for text, n := range c.Requests {
		name, err := strconv.ParseUint(text, 16, 64)
		if err != nil || n < 0 || n > 1<<30 {
			return fmt.Errorf("%w: %q has %d", errCounts, text, n)
		}
		requests[name] = n
	}
	b.peers.note(instance, c.Saved, requests, max(0, at.Sub(b.start)))
	b.tell(at)
	return nil
}

// note takes note of what an instance has counted.
func (p *peers) note(instance string, saved time.Time, requests map[uint64]int, now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.all[instance]
	switch {
	case known == nil && len(p.all) >= maxPeers:
	case known == nil:
		if p.all == nil {
			p.all = make(map[string]*peer)
		}
		p.all[instance] = &peer{saved: saved, heard: now}
	case !known.saved.Equal(saved):
		*known = peer{saved: saved, heard: now, live: true, requests: requests}
	}
}

// tell tells each budget how much others have seen of its crawler, as far as these have
// told something new in the last minute. Others are forgotten.
func (b *Budgets) tell(at time.Time) {
	now := max(0, at.Sub(b.start))
	b.peers.mu.Lock()
	defer b.peers.mu.Unlock()
	sum, until := make(map[uint64]int), make(map[uint64]time.Duration)
	for instance, p := range b.peers.all {
		if now-p.heard > peerLasts {
			delete(b.peers.all, instance)
			continue
		}
		for name, n := range p.requests {
			if before, ok := until[name]; !ok || p.heard < before {
				until[name] = p.heard
			}
			sum[name] += n
		}
	}
	if len(sum) == 0 && !b.peers.told {
		return
	}
	b.peers.told = len(sum) > 0
	for _, of := range b.peers.named {
		name := of.told()
		of.until.Store(int64(until[name] - lateBy))
		if of.others.Store(int64(sum[name])); of.told() != name { // its window has changed meanwhile
			of.others.Store(0)
		}
	}
}

// span returns the time in which all instances have seen what this one has in a window, and
// others in one that has ended when they have counted: a crawler may have gone from these to
// this one since, and what it asks for in a window is counted at either.
func (b *budget) span(now, window time.Duration) time.Duration {
	return window + max(0, now-time.Duration(b.until.Load()))
}

// most returns how many requests a crawler that keeps to the rule can ask in some time.
func (r Rule) most(in time.Duration) int {
	if r.Interval <= 0 {
		return 0
	}
	return max(r.Burst, 1) + int(in/r.Interval)
}

// part returns a rule for this instance alone: its part of what a crawler may ask is
// that which it sees of the crawler's requests. A burst is not divided. Nobody is asked
// to wait for longer than most because of others, whatever these tell: by then they
// tell something else.
func (r Rule) part(own, others int, most time.Duration) Rule {
	if own > 0 && others > 0 && r.Interval > 0 {
		longer := float64(r.Interval) * (1 + float64(others)/float64(own))
		r.Interval = time.Duration(min(longer, float64(max(r.Interval, most))))
	}
	return r
}

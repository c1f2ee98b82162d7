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
	// ShareInterval is how often instances write what they have counted, and look at what others
	// have written.
	ShareInterval = 15 * time.Second
	// peerLifetime is for how long counts of another instance are of use after they came.
	peerLifetime = 4 * ShareInterval
	// maxCountAge is how old counts are at most when they come: the time between two looks, and
	// as much again for a slow storage.
	maxCountAge = 2 * ShareInterval
)

// errInvalidCounts says that what was stored is nothing that [Budgets.Export] has returned.
var errInvalidCounts = errors.New("invalid request counts")

// countsJSON are what an instance has seen.
type countsJSON struct {
	Saved    time.Time      `json:"saved"`
	Requests map[string]int `json:"requests"` // in the last window, by the budget and that window in hexadecimal
}

// peers are the other instances that share a site. The zero value knows none, and then
// nothing is counted for others.
type peers struct {
	sharing          atomic.Bool
	mu               sync.Mutex
	byInstance       map[string]*peer // by instance
	hasOtherRequests bool             // some budget was told of others' requests
	sharedBudgets    []sharedBudget   // those of crawlers by name, with some that were put out since
}

// sharedBudget is the budget of a crawler by name, with its table.
type sharedBudget struct {
	*budget
	table *table
}

// peer is what another instance has counted last.
type peer struct {
	saved       time.Time     // by its clock
	lastChanged time.Duration // by ours, when that has changed last
	hasChanged  bool          // it has changed since it was seen first
	requests    map[uint64]int
}

// sharedIDOf returns a name for what a crawler spends at a site by what the owner has set,
// which is the same on all instances, 0 for budgets that are not shared.
func sharedIDOf(client *Client, limit Rule) uint64 {
	if client.UnknownHost || client.Token == "" || client.Identity == verify.Spoofed {
		return 0
	}
	text := fmt.Sprintf("%s %q %t %d %d", client.Site.UniqueString(), client.Token, client.Identity == verify.Verified, limit.Interval, limit.Burst)
	sum := sha256.Sum256([]byte(text))
	return max(1, binary.LittleEndian.Uint64(sum[:8]))
}

// sharedWindowID returns the name by which others are told what was counted, which is another one for
// each length of a window: while a configuration with another comes to one instance after
// the other, none takes what was counted in an hour for that of a minute.
func (b *budget) sharedWindowID() uint64 {
	return mix(b.sharedID.Load() ^ uint64(b.windowLength.Load()))
}

// share gives a budget the name by which other instances know it.
func (p *peers) share(of *budget, in *table, name uint64) {
	if name == 0 || !of.sharedID.CompareAndSwap(0, name) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.sharedBudgets) == cap(p.sharedBudgets) {
		p.dropEvicted()
	}
	p.sharedBudgets = append(p.sharedBudgets, sharedBudget{of, in})
}

// dropEvicted drops the budgets that were put out. p.mu must be held.
func (p *peers) dropEvicted() {
	p.sharedBudgets = slices.DeleteFunc(p.sharedBudgets, func(of sharedBudget) bool { return !of.table.contains(of.budget) })
}

// Share says whether there are other instances. While there are, requests are also
// counted for them, and it is to be said again and again: by that those are forgotten
// that tell nothing new.
func (b *Budgets) Share(at time.Time, others bool) {
	before := b.peers.sharing.Swap(others)
	switch {
	case others:
		b.updateBudgets(at)
	case before:
		b.peers.mu.Lock()
		defer b.peers.mu.Unlock()
		for _, of := range b.peers.sharedBudgets {
			of.otherRequests.Store(0)
		}
	}
}

// Export returns as bytes, for Import, how often this instance was asked in the last
// window by each crawler; nil if by none.
func (b *Budgets) Export(at time.Time) ([]byte, error) {
	now := max(0, at.Sub(b.start))
	c := countsJSON{Saved: at, Requests: make(map[string]int)}
	b.peers.mu.Lock()
	b.peers.dropEvicted()
	for _, of := range b.peers.sharedBudgets {
		if n := of.recentRequests(now); n > 0 && len(c.Requests) < maxShared {
			c.Requests[strconv.FormatUint(of.sharedWindowID(), 16)] = n
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
	var c countsJSON
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("%w: %w", errInvalidCounts, err)
	}
	if len(c.Requests) > maxShared {
		return fmt.Errorf("%w: there are %d, and at most %d", errInvalidCounts, len(c.Requests), maxShared)
	}
	requests := make(map[uint64]int, len(c.Requests))
	for text, n := range c.Requests {
		name, err := strconv.ParseUint(text, 16, 64)
		if err != nil || n < 0 || n > 1<<30 {
			return fmt.Errorf("%w: %q has %d", errInvalidCounts, text, n)
		}
		requests[name] = n
	}
	b.peers.recordPeer(instance, c.Saved, requests, max(0, at.Sub(b.start)))
	b.updateBudgets(at)
	return nil
}

// recordPeer takes note of what an instance has counted.
func (p *peers) recordPeer(instance string, saved time.Time, requests map[uint64]int, now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.byInstance[instance]
	switch {
	case known == nil && len(p.byInstance) >= maxPeers:
	case known == nil:
		if p.byInstance == nil {
			p.byInstance = make(map[string]*peer)
		}
		p.byInstance[instance] = &peer{saved: saved, lastChanged: now}
	case !known.saved.Equal(saved):
		*known = peer{saved: saved, lastChanged: now, hasChanged: true, requests: requests}
	}
}

// updateBudgets tells each budget how much others have seen of its crawler, as far as these have
// told something new in the last minute. Others are forgotten.
func (b *Budgets) updateBudgets(at time.Time) {
	now := max(0, at.Sub(b.start))
	b.peers.mu.Lock()
	defer b.peers.mu.Unlock()
	sum, until := make(map[uint64]int), make(map[uint64]time.Duration)
	for instance, p := range b.peers.byInstance {
		if now-p.lastChanged > peerLifetime {
			delete(b.peers.byInstance, instance)
			continue
		}
		for name, n := range p.requests {
			if before, ok := until[name]; !ok || p.lastChanged < before {
				until[name] = p.lastChanged
			}
			sum[name] += n
		}
	}
	if len(sum) == 0 && !b.peers.hasOtherRequests {
		return
	}
	b.peers.hasOtherRequests = len(sum) > 0
	for _, of := range b.peers.sharedBudgets {
		name := of.sharedWindowID()
		of.otherUntil.Store(int64(until[name] - maxCountAge))
		if of.otherRequests.Store(int64(sum[name])); of.sharedWindowID() != name { // its window has changed meanwhile
			of.otherRequests.Store(0)
		}
	}
}

// countedSpan returns the time in which all instances have seen what this one has in a window, and
// others in one that has ended when they have counted: a crawler may have gone from these to
// this one since, and what it asks for in a window is counted at either.
func (b *budget) countedSpan(now, window time.Duration) time.Duration {
	return window + max(0, now-time.Duration(b.otherUntil.Load()))
}

// maxIn returns how many requests a crawler that keeps to the rule can ask in some time.
func (r Rule) maxIn(in time.Duration) int {
	if r.Interval <= 0 {
		return 0
	}
	return max(r.Burst, 1) + int(in/r.Interval)
}

// ownPart returns a rule for this instance alone: its part of what a crawler may ask is
// that which it sees of the crawler's requests. A burst is not divided. Nobody is asked
// to wait for longer than most because of others, whatever these tell: by then they
// tell something else.
func (r Rule) ownPart(own, others int, most time.Duration) Rule {
	if own > 0 && others > 0 && r.Interval > 0 {
		longer := float64(r.Interval) * (1 + float64(others)/float64(own))
		r.Interval = time.Duration(min(longer, float64(max(r.Interval, most))))
	}
	return r
}

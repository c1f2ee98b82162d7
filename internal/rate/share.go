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
	// maxSharedBudgets is the maximum number of crawlers in an export, or in an import from another
	// instance.
	maxSharedBudgets = 2 * maxCrawlerBudgets
	// maxPeers is the maximum number of instances for imports.
	maxPeers = 256
	// ShareInterval is the time between two exports, and between two imports.
	ShareInterval = 15 * time.Second
	// importLifetime is the lifetime of an import.
	importLifetime = 4 * ShareInterval
	// maxExportAge is the maximum age of an export at its import. It allows for the interval between
	// two imports and for a storage slower by one interval.
	maxExportAge = 2 * ShareInterval
)

// errInvalidCounts is the error for stored data that [Budgets.Export] has not written.
var errInvalidCounts = errors.New("invalid request counts")

// storedCounts is the stored form of the request counts of an instance.
type storedCounts struct {
	Saved time.Time `json:"saved"`
	// The key is the sharedWindowID of a budget in hexadecimal. The value is its number of requests in
	// the last window.
	Requests map[string]int `json:"requests"`
}

// peers has the request counts of the other instances. With the zero value, a budget includes the
// requests to this instance only.
type peers struct {
	isSharing  atomic.Bool
	mu         sync.Mutex
	byInstance map[string]*importedCounts // The key is the name of the instance.
	// hasOtherRequests is true if a budget includes requests to other instances.
	hasOtherRequests bool
	sharedBudgets    []sharedBudget // sharedBudgets may include evicted budgets.
}

// sharedBudget is a budget whose request counts instances share, with the table of the budget.
type sharedBudget struct {
	*budget
	table *table
}

// importedCounts has the request counts last imported from another instance.
type importedCounts struct {
	saved       time.Time     // saved is the time of the export by the clock of the other instance.
	lastChanged time.Duration // lastChanged is the time by our clock at which saved last changed.
	hasChanged  bool          // hasChanged is true if saved has changed since the first import.
	requests    map[uint64]int
}

// newSharedID returns the ID of a budget for other instances. The ID is the same on all instances
// with the same rule. It is 0 for a budget that is not shared.
func newSharedID(client *Client, limit Rule) uint64 {
	if client.UnknownHost || client.Token == "" || client.Identity == verify.Spoofed {
		return 0
	}
	text := fmt.Sprintf("%s %q %t %d %d", client.Site.UniqueString(), client.Token, client.Identity == verify.Verified, limit.Interval, limit.Burst)
	sum := sha256.Sum256([]byte(text))
	return max(1, binary.LittleEndian.Uint64(sum[:8]))
}

// sharedWindowID returns an ID for the budget together with the length of its window. With the
// length, an instance does not mix counts of different windows while instances reload one after the
// other.
func (b *budget) sharedWindowID() uint64 {
	return mixBits(b.sharedID.Load() ^ uint64(b.windowLength.Load()))
}

// addSharedBudget adds a budget to the budgets shared with other instances under the given ID. It
// does nothing if id is 0 or the budget already has an ID.
func (p *peers) addSharedBudget(shared *budget, sharedTable *table, id uint64) {
	if id == 0 || !shared.sharedID.CompareAndSwap(0, id) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.sharedBudgets) == cap(p.sharedBudgets) {
		p.removeEvicted()
	}
	p.sharedBudgets = append(p.sharedBudgets, sharedBudget{shared, sharedTable})
}

// removeEvicted drops the budgets that their tables have evicted. p.mu must be locked.
func (p *peers) removeEvicted() {
	p.sharedBudgets = slices.DeleteFunc(p.sharedBudgets, func(shared sharedBudget) bool { return !shared.table.contains(shared.budget) })
}

// SetSharing sets whether other instances exist (hasOthers). While they exist, call SetSharing
// regularly, since it also drops the request counts of instances that stopped exporting.
func (b *Budgets) SetSharing(at time.Time, hasOthers bool) {
	before := b.peers.isSharing.Swap(hasOthers)
	switch {
	case hasOthers:
		b.updateOtherRequests(at)
	case before:
		b.peers.mu.Lock()
		defer b.peers.mu.Unlock()
		for _, of := range b.peers.sharedBudgets {
			of.otherRequests.Store(0)
		}
	}
}

// Export returns the number of requests of each crawler to this instance in the last window, for
// [Budgets.Import]. Export returns nil if there are no requests.
func (b *Budgets) Export(at time.Time) ([]byte, error) {
	now := max(0, at.Sub(b.start))
	c := storedCounts{Saved: at, Requests: make(map[string]int)}
	b.peers.mu.Lock()
	b.peers.removeEvicted()
	for _, of := range b.peers.sharedBudgets {
		if n := of.numRecentRequests(now); n > 0 && len(c.Requests) < maxSharedBudgets {
			c.Requests[strconv.FormatUint(of.sharedWindowID(), 16)] = n
		}
	}
	b.peers.mu.Unlock()
	if len(c.Requests) == 0 {
		return nil, nil
	}
	return json.Marshal(c)
}

// Import adds the request counts of another instance. These counts apply for a minute after their
// last change, so those of a stopped instance expire even if its clock is wrong. Import returns an
// error and changes nothing if data is not from [Budgets.Export].
func (b *Budgets) Import(instance string, data []byte, at time.Time) error {
	var c storedCounts
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("%w: %w", errInvalidCounts, err)
	}
	if len(c.Requests) > maxSharedBudgets {
		return fmt.Errorf("%w: %d counts, more than %d", errInvalidCounts, len(c.Requests), maxSharedBudgets)
	}
	requests := make(map[uint64]int, len(c.Requests))
	for text, n := range c.Requests {
		name, err := strconv.ParseUint(text, 16, 64)
		if err != nil || n < 0 || n > 1<<30 {
			return fmt.Errorf("%w: %q has %d", errInvalidCounts, text, n)
		}
		requests[name] = n
	}
	b.peers.recordPeerCounts(instance, c.Saved, requests, max(0, at.Sub(b.start)))
	b.updateOtherRequests(at)
	return nil
}

// recordPeerCounts stores the request counts of another instance. The counts of its first import
// are ignored, since the instance may have stopped long ago.
func (p *peers) recordPeerCounts(instance string, saved time.Time, requests map[uint64]int, now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.byInstance[instance]
	switch {
	case known == nil && len(p.byInstance) >= maxPeers:
	case known == nil:
		if p.byInstance == nil {
			p.byInstance = make(map[string]*importedCounts)
		}
		p.byInstance[instance] = &importedCounts{saved: saved, lastChanged: now}
	case !known.saved.Equal(saved):
		*known = importedCounts{saved: saved, lastChanged: now, hasChanged: true, requests: requests}
	}
}

// updateOtherRequests sets, in each shared budget, the number of requests to other instances. It
// drops instances whose request counts have not changed within importLifetime.
func (b *Budgets) updateOtherRequests(at time.Time) {
	now := max(0, at.Sub(b.start))
	b.peers.mu.Lock()
	defer b.peers.mu.Unlock()
	sum, until := make(map[uint64]int), make(map[uint64]time.Duration)
	for instance, p := range b.peers.byInstance {
		if now-p.lastChanged > importLifetime {
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
		of.otherRequestsUntil.Store(int64(until[name] - maxExportAge))
		if of.otherRequests.Store(int64(sum[name])); of.sharedWindowID() != name { // A reload has changed the window.
			of.otherRequests.Store(0)
		}
	}
}

// spanOfCounts returns the time covered by the request counts of all instances. This is the window
// plus the age of the other instances' counts, because a crawler may have moved from another
// instance to this instance.
func (b *budget) spanOfCounts(now, window time.Duration) time.Duration {
	return window + max(0, now-time.Duration(b.otherRequestsUntil.Load()))
}

// maxRequestsInSpan returns the maximum number of requests that the rule allows in a period, or 0
// for the zero Rule.
func (r Rule) maxRequestsInSpan(period time.Duration) int {
	if r.Interval <= 0 {
		return 0
	}
	return max(r.Burst, 1) + int(period/r.Interval)
}

// ownShare returns the rule for this instance. The interval grows in inverse proportion to the
// instance's share of the crawler's requests: an instance with half of the requests gets twice the
// interval. The interval does not grow beyond maxInterval. The burst is not divided.
func (r Rule) ownShare(ownRequests, otherRequests int, maxInterval time.Duration) Rule {
	if ownRequests > 0 && otherRequests > 0 && r.Interval > 0 {
		longer := float64(r.Interval) * (1 + float64(otherRequests)/float64(ownRequests))
		r.Interval = time.Duration(min(longer, float64(max(r.Interval, maxInterval))))
	}
	return r
}

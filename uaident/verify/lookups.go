package verify

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/limit"
)

// lookupJob is a reverse DNS lookup of an address for one operator.
type lookupJob struct {
	resultKey
	address  netip.Addr
	suffixes []string
	resolver Resolver
}

// lookupQueue runs reverse DNS lookups, each in a goroutine of its own. Operators and networks take
// turns, so that many requests of one do not delay others. Slow lookups may use only some of the
// slots, so that slow zones do not delay fast zones. The number of queued and of running lookups is
// bounded.
type lookupQueue struct {
	maxRunning, maxWaiting int
	timeout                time.Duration
	run                    func(context.Context, lookupJob)
	needsResult            func(resultKey, monotime) bool // needsResult reports whether a lookup still has no result.
	now                    func() monotime

	ctx    context.Context
	cancel context.CancelFunc

	networkStates      *networkStates
	minNetworkInterval monotime // minNetworkInterval is the average interval between lookups of one network.
	minLookupInterval  time.Duration
	createdAt          time.Time

	// crowdedScope is the scope of an operator whose new lookups are dropped because the queue is
	// full, or 0. Requests read the value without locking mu.
	crowdedScope atomic.Uint64
	numDropped   atomic.Uint64

	mu sync.Mutex
	// These lookups are for addresses without a result. Their rate is limited.
	newJobs fairQueue
	// These lookups are for addresses with a result. They have their own room and no limit of the
	// rate.
	rechecks         fairQueue
	pendingKeys      map[resultKey]struct{} // These lookups wait or run.
	numRunning       int
	runningByNetwork map[netip.Prefix]int // The value is the number of running lookups of the network.
	numSlow          int                  // numSlow is the number of running slow lookups that have a slot.
	overdue          []*runningLookup     // These are running slow lookups without a slot.
	// rate limits newJobs. The clock of rate starts at createdAt.
	rate      limit.Rate
	timer     *time.Timer // timer starts the next lookup. It is nil if it is not set.
	slowAfter time.Duration
}

// runningLookup is a lookup that a goroutine runs.
type runningLookup struct {
	lookupJob
	network       netip.Prefix
	cancel        context.CancelFunc
	holdsSlowSlot bool // holdsSlowSlot is true if the lookup occupies a slot for slow lookups.
	isDone        bool
}

// These are shares of the limits. A network is a /24 for IPv4 and a /48 for IPv6.
const (
	// For each operator, the queued lookups of one network and all its running lookups together may
	// be at most 1/8 of the length of the queue.
	networkShare = 8
	slowShare    = 2  // One network may use at most 1/2 of the slots, and so may all slow lookups.
	rateShare    = 20 // One network may use at most 1/20 of the lookups per second.
	networkBurst = 40 // networkBurst is the burst of a network.
	recheckShare = 4  // Rechecks have 1/4 of the queue.
	burst        = 4 * time.Second
)

// slowAfter is the duration after which a lookup is slow. Most lookups need a tenth.
const slowAfter = 500 * time.Millisecond

func newLookupQueue(maxRunning, maxWaiting, rate int, timeout time.Duration, now func() monotime) *lookupQueue {
	q := &lookupQueue{
		maxRunning: maxRunning, maxWaiting: maxWaiting, timeout: timeout, now: now, slowAfter: min(slowAfter, timeout/2),
		networkStates: newNetworkStates(), minNetworkInterval: rateShare * monotime(time.Second) / monotime(rate),
		pendingKeys: map[resultKey]struct{}{}, runningByNetwork: map[netip.Prefix]int{},
		minLookupInterval: time.Second / time.Duration(rate), createdAt: time.Now(),
	}
	q.ctx, q.cancel = context.WithCancel(context.Background())
	return q
}

// close cancels running lookups and empties the queue.
func (q *lookupQueue) close() {
	q.cancel()
	q.mu.Lock()
	defer q.mu.Unlock()
	everywhere := func(netip.Prefix) bool { return true }
	for _, queue := range []*fairQueue{&q.newJobs, &q.rechecks} {
		for j, ok := queue.takeNext(everywhere); ok; j, ok = queue.takeNext(everywhere) {
			delete(q.pendingKeys, j.resultKey)
		}
	}
	if q.timer != nil {
		q.timer.Stop()
		q.timer = nil
	}
}

// enqueue queues a lookup, unless the same lookup is queued or running already, or a limit is
// exceeded. recheck means that the address has a valid result. Rechecks have their own part of the
// queue, so that new addresses cannot starve them.
func (q *lookupQueue) enqueue(j lookupJob, now monotime, recheck bool) {
	if !recheck && q.crowdedScope.Load() == j.scope || q.ctx.Err() != nil {
		q.numDropped.Add(1)
		return
	}
	network := addr.NetworkOfAddr(j.address)
	if !recheck && !q.networkStates.find(network).mayStartLookup(now, networkBurst*q.minNetworkInterval) {
		q.numDropped.Add(1)
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, ok := q.pendingKeys[j.resultKey]; ok || !q.needsResult(j.resultKey, now) {
		return // The lookup is queued or running, or has completed since the caller checked.
	}
	queue, room := &q.newJobs, max(q.maxWaiting-q.maxWaiting/recheckShare, 1)
	if recheck {
		queue, room = &q.rechecks, max(q.maxWaiting/recheckShare, 1)
	}
	_, ofNetwork := queue.countWaiting(j.scope, network)
	if ofNetwork+q.runningByNetwork[network] >= max(q.maxWaiting/networkShare, 1) || !recheck && !q.networkStates.find(network).mayStartLookup(now, networkBurst*q.minNetworkInterval) || q.ctx.Err() != nil {
		q.numDropped.Add(1)
		return
	}
	if queue.size >= room {
		q.numDropped.Add(1)
		displaced, ok := queue.displaceJob(j)
		if !ok {
			q.updateCrowdedScope()
			return
		}
		delete(q.pendingKeys, displaced.resultKey)
	}
	if !recheck {
		q.networkStates.findOrAdd(network).countLookup(now, q.minNetworkInterval)
	}
	q.pendingKeys[j.resultKey] = struct{}{}
	queue.addJob(j)
	q.startReady()
}

// updateCrowdedScope computes crowdedScope again after a change of the queue. The caller must lock
// mu.
func (q *lookupQueue) updateCrowdedScope() {
	if q.newJobs.size >= q.maxWaiting-q.maxWaiting/recheckShare {
		q.crowdedScope.Store(q.newJobs.crowdedScope())
	} else {
		q.crowdedScope.Store(0)
	}
}

// canStart reports whether a lookup of an address in network may start now. The caller must lock
// mu.
func (q *lookupQueue) canStart(network netip.Prefix) bool {
	half := max(q.maxRunning/slowShare, 1)
	if q.networkStates.find(network).isSlow(q.now()) {
		return q.runningByNetwork[network] == 0 && q.numSlow < half
	}
	return q.runningByNetwork[network] < half
}

// startReady starts all queued lookups that may start now. The caller must lock mu.
func (q *lookupQueue) startReady() {
	defer q.updateCrowdedScope()
	for q.numRunning < q.maxRunning && q.ctx.Err() == nil {
		j, ok := q.rechecks.takeNext(q.canStart)
		if !ok {
			if !q.newJobs.hasReady(q.canStart) {
				return
			}
			now := time.Since(q.createdAt)
			if ahead := q.rate.TimeUntilDue(now); ahead >= burst {
				if q.timer == nil {
					q.timer = time.AfterFunc(ahead-burst+1, q.startRateLimited)
				}
				return
			}
			if j, ok = q.newJobs.takeNext(q.canStart); !ok {
				return
			}
			q.rate.Charge(now, q.minLookupInterval)
		}
		l := &runningLookup{lookupJob: j, network: addr.NetworkOfAddr(j.address)}
		if l.holdsSlowSlot = q.networkStates.find(l.network).isSlow(q.now()); l.holdsSlowSlot {
			q.numSlow++
		}
		q.numRunning++
		q.runningByNetwork[l.network]++
		go q.runLookup(l)
	}
	if len(q.overdue) > 0 && q.ctx.Err() == nil && (q.rechecks.hasReady(q.canStart) || q.newJobs.hasReady(q.canStart)) {
		q.overdue[0].cancel()
		q.overdue = q.overdue[1:]
	}
}

// startRateLimited starts lookups that waited because of the maximum rate.
func (q *lookupQueue) startRateLimited() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.timer = nil
	q.startReady()
}

// runLookup runs a lookup, records its duration, and starts the next lookups.
func (q *lookupQueue) runLookup(l *runningLookup) {
	ctx, cancel := context.WithTimeout(q.ctx, q.timeout)
	defer cancel()
	l.cancel = cancel
	if !l.holdsSlowSlot {
		timer := time.AfterFunc(q.slowAfter, func() { q.moveToSlowSlot(l) })
		defer timer.Stop()
	}
	began := time.Now()
	q.run(ctx, l.lookupJob)
	slow := time.Since(began) >= q.slowAfter
	q.mu.Lock()
	defer q.mu.Unlock()
	l.isDone = true
	if slow {
		q.networkStates.findOrAdd(l.network).recordDuration(true, q.now())
	} else {
		q.networkStates.find(l.network).recordDuration(false, q.now())
	}
	if l.holdsSlowSlot {
		q.numSlow--
	}
	q.overdue = slices.DeleteFunc(q.overdue, func(o *runningLookup) bool { return o == l })
	delete(q.pendingKeys, l.resultKey)
	if q.runningByNetwork[l.network]--; q.runningByNetwork[l.network] == 0 {
		delete(q.runningByNetwork, l.network)
	}
	q.numRunning--
	q.startReady()
}

// moveToSlowSlot counts a running lookup as slow. If the slow lookups already have their share of
// the slots, the lookup becomes overdue: another lookup may cancel it.
func (q *lookupQueue) moveToSlowSlot(l *runningLookup) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l.isDone {
		return
	}
	q.networkStates.findOrAdd(l.network).recordDuration(true, q.now())
	if q.numSlow < max(q.maxRunning/slowShare, 1) {
		l.holdsSlowSlot = true
		q.numSlow++
		return
	}
	q.overdue = append(q.overdue, l)
	q.startReady()
}

// countLookups returns the numbers of running and of queued lookups.
func (q *lookupQueue) countLookups() (running, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.numRunning, q.newJobs.size + q.rechecks.size
}

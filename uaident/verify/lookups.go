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

// job is a lookup to run.
type job struct {
	subject
	address  netip.Addr
	suffixes []string
	resolver Resolver
}

// lookups runs jobs, each in a goroutine of its own. Operators and networks take turns, so
// that many requests of one do not delay others. Slow jobs share a part of the slots, so that
// slow zones do not delay fast zones. The queue and the number of running jobs are bounded.
type lookups struct {
	atOnce, most int
	timeout      time.Duration
	run          func(context.Context, job)
	wanted       func(subject, moment) bool // reports whether a job still lacks a result
	now          func() moment

	ctx    context.Context
	cancel context.CancelFunc

	networks   *networks
	perNetwork moment // interval between lookups of one network, by its rate
	perJob     time.Duration
	made       time.Time

	// crowded is an operator without room in the queue, or 0. Requests read it without
	// locking mu.
	crowded atomic.Uint64
	dropped atomic.Uint64

	mu        sync.Mutex
	fresh     fairQueue            // subjects without a result, limited by rate
	rechecks  fairQueue            // subjects with a result, with their own room and no rate
	pending   map[subject]struct{} // waiting or running
	running   int
	of        map[netip.Prefix]int // running, by network
	slow      int                  // running slow jobs that have a slot
	overdue   []*lookup            // running slow jobs without a slot
	rate      limit.Rate           // rate of fresh jobs, relative to made
	timer     *time.Timer          // starts the next job; nil if not set
	slowAfter time.Duration
}

// lookup is a running job.
type lookup struct {
	job
	network netip.Prefix
	cut     context.CancelFunc
	slow    bool // occupies a slot of slow jobs
	done    bool
}

// Shares of the limits. A network is a /24 for IPv4 and a /48 for IPv6.
const (
	networkShare = 8  // maximum share of a network in the queue: 1/8
	slowShare    = 2  // maximum share of a network, and of all slow jobs, in the slots: 1/2
	rateShare    = 20 // maximum share of a network in the rate: 1/20
	networkBurst = 40 // burst of a network
	recheckShare = 4  // share of rechecks in the queue: 1/4
	burst        = 4 * time.Second
)

// slowAfter is the duration after which a lookup is slow. Most lookups need a tenth.
const slowAfter = 500 * time.Millisecond

func newLookups(atOnce, most, rate int, timeout time.Duration, now func() moment) *lookups {
	q := &lookups{
		atOnce: atOnce, most: most, timeout: timeout, now: now, slowAfter: min(slowAfter, timeout/2),
		networks: newNetworks(), perNetwork: rateShare * moment(time.Second) / moment(rate),
		pending: map[subject]struct{}{}, of: map[netip.Prefix]int{},
		perJob: time.Second / time.Duration(rate), made: time.Now(),
	}
	q.ctx, q.cancel = context.WithCancel(context.Background())
	return q
}

// close cancels running jobs and empties the queue.
func (q *lookups) close() {
	q.cancel()
	q.mu.Lock()
	defer q.mu.Unlock()
	everywhere := func(netip.Prefix) bool { return true }
	for _, queue := range []*fairQueue{&q.fresh, &q.rechecks} {
		for j, ok := queue.next(everywhere); ok; j, ok = queue.next(everywhere) {
			delete(q.pending, j.subject)
		}
	}
	if q.timer != nil {
		q.timer.Stop()
		q.timer = nil
	}
}

// ask queues a job, unless it is already queued or running, or exceeds a limit. recheck means
// that a valid result exists. Rechecks have their own room, so that new subjects cannot
// starve them.
func (q *lookups) ask(j job, now moment, recheck bool) {
	if !recheck && q.crowded.Load() == j.scope || q.ctx.Err() != nil {
		q.dropped.Add(1)
		return
	}
	network := addr.Network(j.address)
	if !recheck && !q.networks.find(network).inTime(now, networkBurst*q.perNetwork) {
		q.dropped.Add(1)
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, ok := q.pending[j.subject]; ok || !q.wanted(j.subject, now) {
		return // completed since the caller checked
	}
	queue, room := &q.fresh, max(q.most-q.most/recheckShare, 1)
	if recheck {
		queue, room = &q.rechecks, max(q.most/recheckShare, 1)
	}
	_, ofNetwork := queue.of(j.scope, network)
	if ofNetwork+q.of[network] >= max(q.most/networkShare, 1) || !recheck && !q.networks.find(network).inTime(now, networkBurst*q.perNetwork) || q.ctx.Err() != nil {
		q.dropped.Add(1)
		return
	}
	if queue.size >= room {
		q.dropped.Add(1)
		displaced, ok := queue.displace(j)
		if !ok {
			q.updateCrowded()
			return
		}
		delete(q.pending, displaced.subject)
	}
	if !recheck {
		q.networks.place(network).take(now, q.perNetwork)
	}
	q.pending[j.subject] = struct{}{}
	queue.add(j)
	q.begin()
}

// updateCrowded updates crowded. mu must be held.
func (q *lookups) updateCrowded() {
	if q.fresh.size >= q.most-q.most/recheckShare {
		q.crowded.Store(q.fresh.crowded())
	} else {
		q.crowded.Store(0)
	}
}

// ready reports whether a job from the network may start now. mu must be held.
func (q *lookups) ready(network netip.Prefix) bool {
	half := max(q.atOnce/slowShare, 1)
	if q.networks.find(network).isSlow(q.now()) {
		return q.of[network] == 0 && q.slow < half
	}
	return q.of[network] < half
}

// begin starts all jobs that may start. mu must be held.
func (q *lookups) begin() {
	defer q.updateCrowded()
	for q.running < q.atOnce && q.ctx.Err() == nil {
		j, ok := q.rechecks.next(q.ready)
		if !ok {
			if !q.fresh.any(q.ready) {
				return
			}
			now := time.Since(q.made)
			if ahead := q.rate.Ahead(now); ahead >= burst {
				if q.timer == nil {
					q.timer = time.AfterFunc(ahead-burst+1, q.resume)
				}
				return
			}
			if j, ok = q.fresh.next(q.ready); !ok {
				return
			}
			q.rate.Count(now, q.perJob)
		}
		l := &lookup{job: j, network: addr.Network(j.address)}
		if l.slow = q.networks.find(l.network).isSlow(q.now()); l.slow {
			q.slow++
		}
		q.running++
		q.of[l.network]++
		go q.do(l)
	}
	if len(q.overdue) > 0 && q.ctx.Err() == nil && (q.rechecks.any(q.ready) || q.fresh.any(q.ready)) {
		q.overdue[0].cut()
		q.overdue = q.overdue[1:]
	}
}

// resume starts jobs that waited for the rate.
func (q *lookups) resume() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.timer = nil
	q.begin()
}

// do runs a job and starts the next.
func (q *lookups) do(l *lookup) {
	ctx, cancel := context.WithTimeout(q.ctx, q.timeout)
	defer cancel()
	l.cut = cancel
	if !l.slow {
		timer := time.AfterFunc(q.slowAfter, func() { q.markSlow(l) })
		defer timer.Stop()
	}
	began := time.Now()
	q.run(ctx, l.job)
	slow := time.Since(began) >= q.slowAfter
	q.mu.Lock()
	defer q.mu.Unlock()
	l.done = true
	if slow {
		q.networks.place(l.network).took(true, q.now())
	} else {
		q.networks.find(l.network).took(false, q.now())
	}
	if l.slow {
		q.slow--
	}
	q.overdue = slices.DeleteFunc(q.overdue, func(o *lookup) bool { return o == l })
	delete(q.pending, l.subject)
	if q.of[l.network]--; q.of[l.network] == 0 {
		delete(q.of, l.network)
	}
	q.running--
	q.begin()
}

// markSlow moves a slow job to a slot of slow jobs. If all those slots are in use, another
// job may cancel it.
func (q *lookups) markSlow(l *lookup) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l.done {
		return
	}
	q.networks.place(l.network).took(true, q.now())
	if q.slow < max(q.atOnce/slowShare, 1) {
		l.slow = true
		q.slow++
		return
	}
	q.overdue = append(q.overdue, l)
	q.begin()
}

// busy returns the numbers of running and waiting jobs.
func (q *lookups) busy() (running, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.running, q.fresh.size + q.rechecks.size
}

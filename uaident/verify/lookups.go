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

// job is a look-up to be made.
type job struct {
	subject
	address  netip.Addr
	suffixes []string
	resolver Resolver
	denying  []*list // the lists that deny the address, if all do
}

// lookups runs look-ups, each in a goroutine that ends with it. Who asks for many
// waits behind himself, by operator and by network; and those that take long have
// a part of the places, so that slow zones cannot hold up fast ones. What it holds
// is bounded by the number of those that may wait and run.
type lookups struct {
	atOnce, most int
	timeout      time.Duration
	run          func(context.Context, job)
	wanted       func(subject, moment) bool // whether there is no result that still does
	now          func() moment

	ctx    context.Context
	cancel context.CancelFunc

	networks   *networks
	perNetwork moment // between look-ups of one network, by its rate
	perJob     time.Duration
	made       time.Time

	// crowded is the operator for which there is no room, whatever the network; 0
	// for none. It is for requests to see without mu.
	crowded atomic.Uint64
	dropped atomic.Uint64

	mu        sync.Mutex
	fresh     fairQueue            // about what is not known, paced
	rechecks  fairQueue            // of what is known, with room and time of their own
	pending   map[subject]struct{} // waiting or running
	running   int
	of        map[netip.Prefix]int // running
	slow      int                  // running, of those that take long
	overdue   []*lookup            // running, beyond what slow ones may have
	rate      limit.Rate           // of fresh ones, by the time since made
	timer     *time.Timer          // begins the next one, nil if it is not waited for
	slowAfter time.Duration
}

// lookup is a job that is being done.
type lookup struct {
	job
	network netip.Prefix
	cut     context.CancelFunc
	slow    bool // takes one of the places of slow ones
	done    bool
}

// Shares of what there is. A network is a /24, or a /48 for IPv6.
const (
	networkShare = 8  // a network may have an 8th of the queue,
	slowShare    = 2  // at most half of the places, as may all slow networks together,
	rateShare    = 20 // and a 20th of the rate, so that it takes many to use that up,
	networkBurst = 40 // but so many at once
	recheckShare = 4  // a quarter of the queue is for rechecks of what is known
	burst        = 4 * time.Second
)

// slowAfter is when a look-up counts as slow. Most take a tenth of that.
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

// close ends what runs and forgets what waits.
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

// ask has the job done soon, unless it is waiting or running already, or there
// are too many. recheck says that a result is known and still counts: such a job
// has room and time of its own, so that new claims cannot starve it.
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
		return // the latter if it was done since the caller looked
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
			q.look()
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

// look shows requests whether there is room. mu is held.
func (q *lookups) look() {
	if q.fresh.size >= q.most-q.most/recheckShare {
		q.crowded.Store(q.fresh.crowded())
	} else {
		q.crowded.Store(0)
	}
}

// ready reports whether a look-up from the network may run now. mu is held.
func (q *lookups) ready(network netip.Prefix) bool {
	half := max(q.atOnce/slowShare, 1)
	if q.networks.find(network).isSlow(q.now()) {
		return q.of[network] == 0 && q.slow < half
	}
	return q.of[network] < half
}

// begin begins what may run. mu is held.
func (q *lookups) begin() {
	defer q.look()
	for q.running < q.atOnce && q.ctx.Err() == nil {
		j, ok := q.rechecks.next(q.ready)
		if !ok {
			if !q.fresh.any(q.ready) {
				return
			}
			now := time.Since(q.made)
			if ahead := q.rate.Ahead(now); ahead >= burst {
				if q.timer == nil {
					q.timer = time.AfterFunc(ahead-burst+1, q.inTime)
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

// inTime begins what the rate has held up.
func (q *lookups) inTime() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.timer = nil
	q.begin()
}

// do does a job and begins the next one.
func (q *lookups) do(l *lookup) {
	ctx, cancel := context.WithTimeout(q.ctx, q.timeout)
	defer cancel()
	l.cut = cancel
	if !l.slow {
		timer := time.AfterFunc(q.slowAfter, func() { q.isSlow(l) })
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

// isSlow gives a look-up that takes long a place of the slow ones. If they have
// all of theirs, it may go on until another look-up needs its own.
func (q *lookups) isSlow(l *lookup) {
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

// busy returns the numbers of jobs under way and waiting.
func (q *lookups) busy() (running, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.running, q.fresh.size + q.rechecks.size
}

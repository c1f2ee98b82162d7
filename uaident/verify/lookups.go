package verify

import (
	"context"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// job is a look-up to be made.
type job struct {
	subject
	address  netip.Addr
	suffixes []string
	resolver Resolver
}

// lookups runs look-ups in goroutines that end when there is no more to do. What
// it holds is bounded by the number of those that may wait and run.
type lookups struct {
	atOnce, most int
	timeout      time.Duration
	run          func(context.Context, job)
	wanted       func(subject, moment) bool // whether there is no result that still does

	ctx    context.Context
	cancel context.CancelFunc

	// Copies of what mu guards, for requests to see without it that there is no
	// room or no time.
	full atomic.Bool
	tat  atomic.Int64 // moment

	dropped atomic.Uint64

	mu       sync.Mutex
	waiting  []job // first come, first served
	running  int
	pending  map[subject]struct{} // waiting or running
	networks map[netip.Prefix]int // of those
	perJob   moment               // by the rate
}

// Shares of the queue. A network is a /24, or a /48 for IPv6.
const (
	networkShare = 8 // a network may have an 8th
	recheckShare = 4 // a quarter is for rechecks of what is known
	burst        = 4 * time.Second
)

func newLookups(atOnce, most, rate int, timeout time.Duration) *lookups {
	q := &lookups{
		atOnce: atOnce, most: most, timeout: timeout,
		pending: map[subject]struct{}{}, networks: map[netip.Prefix]int{},
		perJob: moment(time.Second) / moment(rate),
	}
	q.tat.Store(-int64(forever / 2)) // long ago
	q.ctx, q.cancel = context.WithCancel(context.Background())
	return q
}

// ask has the job done soon, unless it is waiting or running already, or there
// are too many. recheck says that a result is known and still counts: such a job
// has room and time of its own, so that new claims cannot starve it.
func (q *lookups) ask(j job, now moment, recheck bool) {
	if !recheck && (q.full.Load() || !q.inTime(now)) || q.ctx.Err() != nil {
		q.dropped.Add(1)
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, ok := q.pending[j.subject]; ok || !q.wanted(j.subject, now) {
		return // the latter if it was done since the caller looked
	}
	network := networkOf(j.address)
	room := q.most
	if !recheck {
		room -= q.most / recheckShare
	}
	if len(q.waiting) >= room || q.networks[network] >= max(q.most/networkShare, 1) || !recheck && !q.inTime(now) {
		q.dropped.Add(1)
		return
	}
	if !recheck {
		// The generic cell rate algorithm: the theoretical arrival time of the
		// next job runs ahead of the clock by no more than the burst.
		q.tat.Store(int64(max(moment(q.tat.Load()), now) + q.perJob))
	}
	q.pending[j.subject] = struct{}{}
	q.networks[network]++
	q.waiting = append(q.waiting, j)
	q.full.Store(len(q.waiting) >= q.most-q.most/recheckShare)
	if q.running < q.atOnce {
		q.running++
		go q.work()
	}
}

func (q *lookups) inTime(now moment) bool { return moment(q.tat.Load())-now < moment(burst) }

// work does jobs until none waits.
func (q *lookups) work() {
	for {
		q.mu.Lock()
		if len(q.waiting) == 0 {
			q.running--
			q.waiting = nil // and with it the memory
			q.mu.Unlock()
			return
		}
		j := q.waiting[0]
		q.waiting[0] = job{}
		q.waiting = q.waiting[1:]
		q.full.Store(len(q.waiting) >= q.most-q.most/recheckShare)
		q.mu.Unlock()
		if q.ctx.Err() == nil {
			ctx, cancel := context.WithTimeout(q.ctx, q.timeout)
			q.run(ctx, j)
			cancel()
		}
		q.mu.Lock()
		delete(q.pending, j.subject)
		network := networkOf(j.address)
		if q.networks[network]--; q.networks[network] == 0 {
			delete(q.networks, network)
		}
		q.mu.Unlock()
	}
}

// busy returns the numbers of jobs under way and waiting.
func (q *lookups) busy() (running, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.pending) - len(q.waiting), len(q.waiting)
}

// networkOf returns the network that stands for an address.
func networkOf(addr netip.Addr) netip.Prefix {
	bits := 24
	if addr.Is6() {
		bits = 48
	}
	network, _ := addr.Prefix(bits) // addr is valid and has no zone
	return network
}

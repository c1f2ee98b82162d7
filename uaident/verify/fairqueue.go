package verify

import (
	"net/netip"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
)

// fairQueue is a queue of jobs, grouped by operator and then by network. Operators take
// turns, and so do the networks of an operator. The caller bounds its size. Linear searches
// are fast enough for that size.
type fairQueue struct {
	operators []*operatorJobs // in order of turns; none is empty
	size      int
}

// operatorJobs are the jobs of one operator. The scope identifies the operator.
type operatorJobs struct {
	scope    uint64
	networks []*networkJobs // in order of turns; none is empty
	size     int
}

// networkJobs are the jobs of one network, oldest first.
type networkJobs struct {
	network netip.Prefix
	jobs    []lookupJob
}

func (q *fairQueue) operatorFor(scope uint64) *operatorJobs {
	for _, o := range q.operators {
		if o.scope == scope {
			return o
		}
	}
	return nil
}

func (o *operatorJobs) network(network netip.Prefix) *networkJobs {
	for _, n := range o.networks {
		if n.network == network {
			return n
		}
	}
	return nil
}

// add appends a job to the jobs of its network.
func (q *fairQueue) add(j lookupJob) {
	o := q.operatorFor(j.scope)
	if o == nil {
		o = &operatorJobs{scope: j.scope}
		q.operators = append(q.operators, o)
	}
	network := addr.NetworkOfAddr(j.address)
	n := o.network(network)
	if n == nil {
		n = &networkJobs{network: network}
		o.networks = append(o.networks, n)
	}
	n.jobs = append(n.jobs, j)
	o.size++
	q.size++
}

// waitingFor returns the numbers of waiting jobs of the operator and of the network.
func (q *fairQueue) waitingFor(scope uint64, network netip.Prefix) (operator, fromNetwork int) {
	o := q.operatorFor(scope)
	if o == nil {
		return 0, 0
	}
	if n := o.network(network); n != nil {
		fromNetwork = len(n.jobs)
	}
	return o.size, fromNetwork
}

// takeNext removes and returns the next job from a network that is ready.
func (q *fairQueue) takeNext(ready func(netip.Prefix) bool) (j lookupJob, ok bool) {
	for io, o := range q.operators {
		for in, n := range o.networks {
			if !ready(n.network) {
				continue
			}
			j = n.jobs[0]
			n.jobs[0] = lookupJob{}
			n.jobs = n.jobs[1:]
			o.networks = moveToEnd(o.networks, in, len(n.jobs) > 0)
			o.size--
			q.operators = moveToEnd(q.operators, io, o.size > 0)
			q.size--
			return j, true
		}
	}
	return lookupJob{}, false
}

// hasReady reports whether next would return a job.
func (q *fairQueue) hasReady(ready func(netip.Prefix) bool) bool {
	for _, o := range q.operators {
		for _, n := range o.networks {
			if ready(n.network) {
				return true
			}
		}
	}
	return false
}

// moveToEnd moves the element at i to the end, or removes the element.
func moveToEnd[T any](s []*T, i int, keep bool) []*T {
	e := s[i]
	copy(s[i:], s[i+1:])
	s[len(s)-1] = nil
	if s = s[:len(s)-1]; keep {
		s = append(s, e)
	}
	return s
}

// displaceFor removes the newest job of the operator with the most jobs, or of the network with the
// most jobs of j's own operator. displaceFor removes no job if that operator and network would then
// have fewer jobs than j's. ok is false in that case.
func (q *fairQueue) displaceFor(j lookupJob) (lookupJob, bool) {
	ofOperator, ofNetwork := q.waitingFor(j.scope, addr.NetworkOfAddr(j.address))
	from := q.longestOperator()
	if from == nil {
		return lookupJob{}, false
	}
	if from.size <= ofOperator+1 {
		if from = q.operatorFor(j.scope); from == nil || len(from.longestNetwork().jobs) <= ofNetwork+1 {
			return lookupJob{}, false
		}
	}
	n := from.longestNetwork()
	last := len(n.jobs) - 1
	displaced := n.jobs[last]
	n.jobs[last] = lookupJob{}
	n.jobs = n.jobs[:last]
	from.size--
	q.size--
	q.removeEmpty()
	return displaced, true
}

// removeEmpty removes empty groups.
func (q *fairQueue) removeEmpty() {
	for io := 0; io < len(q.operators); io++ {
		o := q.operators[io]
		for in := 0; in < len(o.networks); in++ {
			if len(o.networks[in].jobs) == 0 {
				o.networks = moveToEnd(o.networks, in, false)
				in--
			}
		}
		if o.size == 0 {
			q.operators = moveToEnd(q.operators, io, false)
			io--
		}
	}
}

// longestOperator returns the operator with the most jobs, or nil.
func (q *fairQueue) longestOperator() (most *operatorJobs) {
	for _, o := range q.operators {
		if most == nil || o.size > most.size {
			most = o
		}
	}
	return most
}

// longestNetwork returns the network with the most jobs.
func (o *operatorJobs) longestNetwork() (most *networkJobs) {
	for _, n := range o.networks {
		if most == nil || len(n.jobs) > len(most.jobs) {
			most = n
		}
	}
	return most
}

// crowdedScope returns the operator whose further jobs cannot displace another job, or 0. That
// operator has the most jobs, and none of its networks has more than one.
func (q *fairQueue) crowdedScope() uint64 {
	if o := q.longestOperator(); o != nil && len(o.longestNetwork().jobs) <= 1 {
		return o.scope
	}
	return 0
}

package verify

import (
	"net/netip"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
)

// fairQueue is a queue of lookups, grouped by operator and then by network. Operators take turns,
// and so do the networks of an operator. The caller limits the number of lookups, so that the
// linear searches are fast.
type fairQueue struct {
	operators []*operatorJobs // The first operator is the next whose turn it is. None is empty.
	size      int
}

// operatorJobs are the queued lookups of one operator, grouped by network. scope is the hash of the
// operator's domains.
type operatorJobs struct {
	scope    uint64
	networks []*networkJobs // The first network is the next whose turn it is. None is empty.
	size     int
}

// networkJobs are the queued lookups of one network, oldest first.
type networkJobs struct {
	network netip.Prefix
	jobs    []lookupJob
}

func (q *fairQueue) findOperator(scope uint64) *operatorJobs {
	for _, o := range q.operators {
		if o.scope == scope {
			return o
		}
	}
	return nil
}

func (o *operatorJobs) findNetwork(network netip.Prefix) *networkJobs {
	for _, n := range o.networks {
		if n.network == network {
			return n
		}
	}
	return nil
}

// addJob appends a lookup to the queue of its operator and network.
func (q *fairQueue) addJob(j lookupJob) {
	o := q.findOperator(j.scope)
	if o == nil {
		o = &operatorJobs{scope: j.scope}
		q.operators = append(q.operators, o)
	}
	network := addr.NetworkOfAddr(j.address)
	n := o.findNetwork(network)
	if n == nil {
		n = &networkJobs{network: network}
		o.networks = append(o.networks, n)
	}
	n.jobs = append(n.jobs, j)
	o.size++
	q.size++
}

// countWaiting returns the number of queued lookups of the operator, and how many of these come
// from the network.
func (q *fairQueue) countWaiting(scope uint64, network netip.Prefix) (operator, fromNetwork int) {
	o := q.findOperator(scope)
	if o == nil {
		return 0, 0
	}
	if n := o.findNetwork(network); n != nil {
		fromNetwork = len(n.jobs)
	}
	return o.size, fromNetwork
}

// takeNext removes and returns the oldest lookup of the first network for which ready is true. That
// network and its operator then go to the end.
func (q *fairQueue) takeNext(ready func(netip.Prefix) bool) (j lookupJob, ok bool) {
	for io, o := range q.operators {
		for in, n := range o.networks {
			if !ready(n.network) {
				continue
			}
			j = n.jobs[0]
			n.jobs[0] = lookupJob{}
			n.jobs = n.jobs[1:]
			o.networks = moveToEndOrRemove(o.networks, in, len(n.jobs) > 0)
			o.size--
			q.operators = moveToEndOrRemove(q.operators, io, o.size > 0)
			q.size--
			return j, true
		}
	}
	return lookupJob{}, false
}

// hasReady reports whether takeNext would return a lookup.
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

// moveToEndOrRemove moves s[i] to the end of s if keep is true, and removes s[i] otherwise.
func moveToEndOrRemove[T any](s []*T, i int, keep bool) []*T {
	e := s[i]
	copy(s[i:], s[i+1:])
	s[len(s)-1] = nil
	if s = s[:len(s)-1]; keep {
		s = append(s, e)
	}
	return s
}

// displaceJob removes and returns a queued lookup to make room for j, so that operators and
// networks get equal shares. displaceJob removes the newest lookup of the longest network of the
// longest operator, or of j's own operator. ok is false if the removal would give j's operator or
// network more than an equal share.
func (q *fairQueue) displaceJob(j lookupJob) (_ lookupJob, ok bool) {
	ofOperator, ofNetwork := q.countWaiting(j.scope, addr.NetworkOfAddr(j.address))
	from := q.longestOperator()
	if from == nil {
		return lookupJob{}, false
	}
	if from.size <= ofOperator+1 {
		if from = q.findOperator(j.scope); from == nil || len(from.longestNetwork().jobs) <= ofNetwork+1 {
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

// removeEmpty removes operators and networks without queued lookups.
func (q *fairQueue) removeEmpty() {
	for io := 0; io < len(q.operators); io++ {
		o := q.operators[io]
		for in := 0; in < len(o.networks); in++ {
			if len(o.networks[in].jobs) == 0 {
				o.networks = moveToEndOrRemove(o.networks, in, false)
				in--
			}
		}
		if o.size == 0 {
			q.operators = moveToEndOrRemove(q.operators, io, false)
			io--
		}
	}
}

// longestOperator returns the operator with the most queued lookups, or nil for an empty queue.
func (q *fairQueue) longestOperator() (most *operatorJobs) {
	for _, o := range q.operators {
		if most == nil || o.size > most.size {
			most = o
		}
	}
	return most
}

// longestNetwork returns the network with the most queued lookups.
func (o *operatorJobs) longestNetwork() (most *networkJobs) {
	for _, n := range o.networks {
		if most == nil || len(n.jobs) > len(most.jobs) {
			most = n
		}
	}
	return most
}

// crowdedScope returns the scope of the operator whose new lookups cannot displace queued lookups,
// or 0. That operator has the most queued lookups, and each from a different network.
func (q *fairQueue) crowdedScope() uint64 {
	if o := q.longestOperator(); o != nil && len(o.longestNetwork().jobs) <= 1 {
		return o.scope
	}
	return 0
}

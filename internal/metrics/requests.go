package metrics

import (
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/internal/cowmap"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// maxRequestSeries bounds the combinations of label values with which requests
// of one host are counted. Each crawler needs one for each verdict that it gets,
// twice that if some of its requests are verified.
//
// Beyond it requests are summed up as judge.OtherName, but for what tells whether a
// search engine was blocked, and those under a false name: at most 58
// combinations more.
const maxRequestSeries = 90

// requestLabels are the labels of a counter of requests, besides the host.
type requestLabels struct {
	crawler, class, identity string
	verdict                  judge.Verdict
	action                   judge.Action
}

// summed is where requests are counted that have no room for labels of their
// own.
func (l requestLabels) summed() requestLabels {
	switch {
	case l.crawler == judge.SpoofedName:
		return l
	case l.class != uaident.Search.String():
		l.class, l.identity = judge.OtherName, judge.OtherName
	}
	l.crawler = judge.OtherName
	return l
}

// RequestCounters count the judged requests in a bounded number of series for
// each host. A series is never taken back or given another meaning.
type RequestCounters struct {
	*prometheus.CounterVec
	overflow *prometheus.CounterVec // by host

	byHost cowmap.Sharded[string, *hostCounters]
}

// hostCounters are the counters of one host.
type hostCounters struct {
	overflow prometheus.Counter

	mu     sync.Mutex
	series cowmap.Map[requestLabels, prometheus.Counter]
	full   atomic.Bool
}

// Request is a request as it is counted.
type Request struct {
	Host     string        // that is configured
	Crawler  string        // its label
	Named    bool          // the crawler has a name, whatever its label
	Class    uaident.Class // of the client
	Identity verify.State  // how sure it is that the client is who it says
	Verdict  judge.Verdict // by the robots.txt
	Action   judge.Action  // what the guard did
}

// Count counts a request.
func (c *RequestCounters) Count(r Request) {
	host := c.host(r.Host)
	if r.Identity == verify.Spoofed {
		r.Class = uaident.Other // it is none of those that it claims to be one of
	}
	labels := requestLabels{r.Crawler, r.Class.String(), r.Identity.String(), r.Verdict, r.Action}
	counter, own := host.counter(c.CounterVec, r.Host, labels)
	counter.Inc()
	if !own || r.Crawler == judge.OtherName && r.Named {
		host.overflow.Inc()
	}
}

func (c *RequestCounters) host(name string) *hostCounters {
	if host, ok := c.byHost.Load(name); ok {
		return host
	}
	return c.byHost.LoadOrStore(name, func() *hostCounters { return &hostCounters{overflow: c.overflow.WithLabelValues(name)} })
}

// counter returns the counter for these labels and whether it is their own.
func (h *hostCounters) counter(vec *prometheus.CounterVec, host string, labels requestLabels) (counter prometheus.Counter, own bool) {
	if counter, own = h.known(labels); counter != nil {
		return counter, own
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if counter, own = h.known(labels); counter != nil {
		return counter, own
	}
	own = true
	if h.full.Load() {
		summed := labels.summed()
		labels, own = summed, summed == labels
	}
	counter = vec.WithLabelValues(host, labels.crawler, labels.class, labels.identity, labels.verdict.String(), labels.action.String())
	h.series.Store(labels, counter)
	h.full.Store(h.series.Len() >= maxRequestSeries)
	return counter, own
}

// known is counter without making one: it returns nil for that.
func (h *hostCounters) known(labels requestLabels) (counter prometheus.Counter, own bool) {
	if counter, own = h.series.Load(labels); own || !h.full.Load() {
		return counter, own
	}
	counter, _ = h.series.Load(labels.summed())
	return counter, false
}

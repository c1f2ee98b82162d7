package caddymodule

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// maxRequestSeries bounds the combinations of label values with which requests
// of one host are counted. Each crawler needs one for each verdict that it gets,
// twice that if some of its requests are verified.
//
// Beyond it requests are summed up as otherLabel, but for what tells whether a
// search engine was blocked, and those under a false name: at most 46
// combinations more.
const maxRequestSeries = 100

// requestLabels are the labels of a counter of requests, besides the host.
type requestLabels struct {
	crawler, class, identity string
	verdict                  verdict
	action                   action
}

// summed is where requests are counted that have no room for labels of their
// own.
func (l requestLabels) summed() requestLabels {
	switch {
	case l.crawler == spoofedLabel:
		return l
	case l.class != uaident.Search.String():
		l.class, l.identity = otherLabel, otherLabel
	}
	l.crawler = otherLabel
	return l
}

// requestCounters count the judged requests in a bounded number of series for
// each host. A series is never taken back or given another meaning.
type requestCounters struct {
	*prometheus.CounterVec
	overflow *prometheus.CounterVec // by host

	mu     sync.Mutex
	byHost atomic.Pointer[map[string]*hostCounters] // copied on write
}

// hostCounters are the counters of one host.
type hostCounters struct {
	overflow prometheus.Counter

	mu     sync.Mutex
	series atomic.Pointer[map[requestLabels]prometheus.Counter] // copied on write
	full   atomic.Bool
}

// count counts a request of a crawler that has this label.
func (c *requestCounters) count(j *judgement, crawler string) {
	host := c.host(j.site.label)
	class := j.client.Class
	if j.identity == identitySpoofed {
		class = uaident.Other // it is none of those that it claims to be one of
	}
	labels := requestLabels{crawler, class.String(), j.identity.String(), j.verdict, j.action}
	counter, own := host.counter(c.CounterVec, j.site.label, labels)
	counter.Inc()
	if !own || crawler == otherLabel && j.knownName() != "" {
		host.overflow.Inc()
	}
}

func (c *requestCounters) host(name string) *hostCounters {
	if known := c.byHost.Load(); known != nil {
		if host := (*known)[name]; host != nil {
			return host
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	changed := make(map[string]*hostCounters)
	if known := c.byHost.Load(); known != nil {
		if host := (*known)[name]; host != nil {
			return host
		}
		changed = maps.Clone(*known)
	}
	host := &hostCounters{overflow: c.overflow.WithLabelValues(name)}
	changed[name] = host
	c.byHost.Store(&changed)
	return host
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
	changed := make(map[requestLabels]prometheus.Counter)
	if before := h.series.Load(); before != nil {
		changed = maps.Clone(*before)
	}
	changed[labels] = counter
	h.series.Store(&changed)
	h.full.Store(len(changed) >= maxRequestSeries)
	return counter, own
}

// known is counter without making one: it returns nil for that.
func (h *hostCounters) known(labels requestLabels) (counter prometheus.Counter, own bool) {
	known := h.series.Load()
	if known == nil {
		return nil, false
	}
	if counter, own = (*known)[labels]; own || !h.full.Load() {
		return counter, own
	}
	return (*known)[labels.summed()], false
}

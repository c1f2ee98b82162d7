package metrics

import (
	"sync"
	"sync/atomic"
	"time"

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
// each host. A series is never taken back or given another meaning. It is a word beside
// its labels until it is collected: those of a vector take a dozen objects each, which
// with a thousand hosts were half of all that the garbage collector looked at.
type RequestCounters struct {
	desc     *prometheus.Desc
	overflow *prometheus.CounterVec // by host

	byHost cowmap.Sharded[string, *hostCounters]
}

// hostCounters are the counters of one host.
type hostCounters struct {
	overflow prometheus.Counter

	mu     sync.Mutex
	series cowmap.Map[requestLabels, *requestSeries]
	full   atomic.Bool
}

// requestSeries are requests with the same labels.
type requestSeries struct {
	count atomic.Uint64
	began time.Time // when there was none yet
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
func (c *RequestCounters) Count(r Request) { c.host(r.Host).count(r) }

// count counts a request of the host. It returns the series and whether it is the
// request's own rather than one in which others are summed up with it.
func (h *hostCounters) count(r Request) (series *requestSeries, own bool) {
	if r.Identity == verify.Spoofed {
		r.Class = uaident.Other // it is none of those that it claims to be one of
	}
	labels := requestLabels{r.Crawler, r.Class.String(), r.Identity.String(), r.Verdict, r.Action}
	series, own = h.of(labels)
	series.count.Add(1)
	if own = own && (r.Crawler != judge.OtherName || !r.Named); !own {
		h.overflow.Inc()
	}
	return series, own
}

// Describe implements [prometheus.Collector].
func (c *RequestCounters) Describe(ch chan<- *prometheus.Desc) { ch <- c.desc }

// Collect implements [prometheus.Collector].
func (c *RequestCounters) Collect(ch chan<- prometheus.Metric) {
	for host, counters := range c.byHost.All() {
		for l, series := range counters.series.All() {
			ch <- prometheus.MustNewConstMetricWithCreatedTimestamp(c.desc, prometheus.CounterValue, float64(series.count.Load()), series.began,
				host, l.crawler, l.class, l.identity, l.verdict.String(), l.action.String())
		}
	}
}

func (c *RequestCounters) host(name string) *hostCounters {
	if host, ok := c.byHost.Load(name); ok {
		return host
	}
	return c.byHost.LoadOrStore(name, func() *hostCounters { return &hostCounters{overflow: c.overflow.WithLabelValues(name)} })
}

// of returns the series for these labels and whether it is their own.
func (h *hostCounters) of(labels requestLabels) (series *requestSeries, own bool) {
	if series, own = h.known(labels); series != nil {
		return series, own
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if series, own = h.known(labels); series != nil {
		return series, own
	}
	own = true
	if h.full.Load() {
		summed := labels.summed()
		labels, own = summed, summed == labels
	}
	series = h.series.LoadOrStore(labels, func() *requestSeries { return &requestSeries{began: time.Now()} })
	h.full.Store(h.series.Len() >= maxRequestSeries)
	return series, own
}

// known is of without making a series: it returns nil for that.
func (h *hostCounters) known(labels requestLabels) (series *requestSeries, own bool) {
	if series, own = h.series.Load(labels); own || !h.full.Load() {
		return series, own
	}
	series, _ = h.series.Load(labels.summed())
	return series, false
}

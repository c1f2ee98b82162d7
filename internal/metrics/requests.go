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
	crawler  string
	class    uaident.Class
	identity verify.State
	summed   bool // class and identity are judge.OtherName
	verdict  judge.Verdict
	action   judge.Action
}

// labelsOf returns the labels of a request with the given crawler label.
func labelsOf(crawler string, j *Judged) requestLabels {
	return requestLabels{crawler: crawler, class: j.Class, identity: j.Identity, verdict: j.Verdict, action: j.Action}
}

// summedUp returns the labels for requests without room for their own labels.
func (l requestLabels) summedUp() requestLabels {
	switch {
	case l.crawler == judge.SpoofedName:
		return l
	case l.class != uaident.Search:
		l.class, l.identity, l.summed = 0, 0, true
	}
	l.crawler = judge.OtherName
	return l
}

// values returns the label values in metrics.
func (l requestLabels) values() []string {
	class, identity := l.class.String(), l.identity.String()
	if l.summed {
		class, identity = judge.OtherName, judge.OtherName
	}
	return []string{l.crawler, class, identity, l.verdict.String(), l.action.String()}
}

// requestCounters collect the requests of all hosts.
type requestCounters struct {
	desc     *prometheus.Desc
	overflow *prometheus.Desc
	hosts    *hosts
}

// hostCounters count the requests of one host in a bounded number of series. A series is
// never removed or reassigned. It is stored as a number next to its labels. A series of a
// vector needs a dozen objects, which for a thousand hosts made up half of the garbage
// collector's work.
type hostCounters struct {
	overflow atomic.Uint64 // requests in shared series
	began    int64         // creation in Unix nanoseconds

	mu     sync.Mutex
	series cowmap.Map[requestLabels, *requestSeries]
	full   atomic.Bool
}

// requestSeries are requests with the same labels.
type requestSeries struct {
	crawler string // label, in memory of its own
	count   atomic.Uint64
	began   int64 // creation in Unix nanoseconds
}

// count counts a request with the given crawler label.
func (h *hostCounters) count(crawler string, j *Judged) {
	series, own := h.of(labelsOf(crawler, j))
	series.count.Add(1)
	if !own || crawler == judge.OtherName && j.Crawler != "" {
		h.overflow.Add(1)
	}
}

// Describe implements [prometheus.Collector].
func (c *requestCounters) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.desc
	ch <- c.overflow
}

// Collect implements [prometheus.Collector].
func (c *requestCounters) Collect(ch chan<- prometheus.Metric) {
	for name, host := range c.hosts.All() {
		ch <- counterOf(c.overflow, &host.counter.overflow, host.counter.began, name)
		for l, series := range host.counter.series.All() {
			ch <- counterOf(c.desc, &series.count, series.began, append([]string{name}, l.values()...)...)
		}
	}
}

// counterOf returns a counter metric. began is its creation in Unix nanoseconds.
func counterOf(desc *prometheus.Desc, count *atomic.Uint64, began int64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetricWithCreatedTimestamp(desc, prometheus.CounterValue, float64(count.Load()), time.Unix(0, began), labels...)
}

// of returns the series for the labels. own is false for a shared series.
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
		summed := labels.summedUp()
		labels, own = summed, summed == labels
	}
	series = h.series.LoadOrStore(labels, func() *requestSeries { return &requestSeries{crawler: labels.crawler, began: time.Now().UnixNano()} })
	h.full.Store(h.series.Len() >= maxRequestSeries)
	return series, own
}

// known is of for existing series. It returns nil otherwise.
func (h *hostCounters) known(labels requestLabels) (series *requestSeries, own bool) {
	if series, own = h.series.Load(labels); own || !h.full.Load() {
		return series, own
	}
	series, _ = h.series.Load(labels.summedUp())
	return series, false
}

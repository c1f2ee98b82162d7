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

// maxRequestSeries is the maximum number of series of one host. A crawler needs one series for each
// of its verdicts, and twice as many if only some of its requests are verified.
//
// Requests beyond the maximum have the crawler label judge.OtherName. Requests of search engines keep
// their class, and requests of spoofed clients keep all labels. These are at most 58 more series.
const maxRequestSeries = 90

// requestLabels are the labels of a request counter, except the host.
type requestLabels struct {
	crawler    string
	class      uaident.Class
	identity   verify.State
	isOverflow bool // isOverflow is true if class and identity are judge.OtherName.
	verdict    judge.Verdict
	action     judge.Action
}

// newRequestLabels returns the labels for a request. crawler is the label of its crawler.
func newRequestLabels(crawler string, j *JudgedRequest) requestLabels {
	return requestLabels{crawler: crawler, class: j.Class, identity: j.Identity, verdict: j.Verdict, action: j.Action}
}

// overflowLabels returns the labels under which requests are counted if the host has too many
// series for l.
func (l requestLabels) overflowLabels() requestLabels {
	switch {
	case l.crawler == judge.SpoofedName:
		return l
	case l.class != uaident.Search:
		l.class, l.identity, l.isOverflow = 0, 0, true
	}
	l.crawler = judge.OtherName
	return l
}

// labelValues returns the values of the labels in the order of the metric.
func (l requestLabels) labelValues() []string {
	class, identity := l.class.String(), l.identity.String()
	if l.isOverflow {
		class, identity = judge.OtherName, judge.OtherName
	}
	return []string{l.crawler, class, identity, l.verdict.String(), l.action.String()}
}

// registerRequestMetrics registers the metrics that count the requests of all hosts.
func registerRequestMetrics(b metricBuilder, hosts *hosts) {
	requests := b.newDesc("requests_total", "Judged requests. Requests of browsers are not judged.", "host", "crawler", "class", "identity", "verdict", "action")
	overflow := b.newDesc("label_overflow_total", "Requests counted as _other because the host has too many label values.", "host")
	b.registerCollector(func(ch metricSink) {
		for name, host := range hosts.All() {
			ch <- newCounterMetric(overflow, &host.counters.overflow, host.counters.createdAt, name)
			for l, series := range host.counters.series.All() {
				ch <- newCounterMetric(requests, &series.count, series.createdAt, append([]string{name}, l.labelValues()...)...)
			}
		}
	}, requests, overflow)
}

// hostCounters count the requests of a host in a bounded number of series. A series is never
// removed or used for other labels. It is only a number next to its labels, because a series of a
// vector needs a dozen objects. For a thousand hosts they made up half of the garbage collector's
// work.
type hostCounters struct {
	overflow  atomic.Uint64 // overflow counts the requests in shared series.
	createdAt int64         // createdAt is the time of creation in Unix nanoseconds.

	mu     sync.Mutex
	series cowmap.Map[requestLabels, *requestSeries]
	isFull atomic.Bool
}

// requestSeries counts the requests with the same labels.
type requestSeries struct {
	crawler   string // crawler is the label. Its string shares no memory with a robots.txt.
	count     atomic.Uint64
	createdAt int64 // createdAt is the time of creation in Unix nanoseconds.
}

// countRequest counts a request. crawler is the label of its crawler.
func (h *hostCounters) countRequest(crawler string, j *JudgedRequest) {
	series, isOwn := h.getOrCreate(newRequestLabels(crawler, j))
	series.count.Add(1)
	if !isOwn || crawler == judge.OtherName && j.Crawler != "" {
		h.overflow.Add(1)
	}
}

// newCounterMetric returns a counter as a metric. created is the time of its creation in Unix
// nanoseconds.
func newCounterMetric(desc *prometheus.Desc, count *atomic.Uint64, created int64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetricWithCreatedTimestamp(desc, prometheus.CounterValue, float64(count.Load()), time.Unix(0, created), labels...)
}

// getOrCreate returns the series for the labels, created if necessary. isOwn is false if the host
// has too many series, so that the result is a series for several labels.
func (h *hostCounters) getOrCreate(labels requestLabels) (series *requestSeries, isOwn bool) {
	if series, isOwn = h.lookup(labels); series != nil {
		return series, isOwn
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if series, isOwn = h.lookup(labels); series != nil {
		return series, isOwn
	}
	isOwn = true
	if h.isFull.Load() {
		overflow := labels.overflowLabels()
		labels, isOwn = overflow, overflow == labels
	}
	series = h.series.LoadOrStore(labels, func() *requestSeries {
		return &requestSeries{crawler: labels.crawler, createdAt: time.Now().UnixNano()}
	})
	h.isFull.Store(h.series.Len() >= maxRequestSeries)
	return series, isOwn
}

// lookup returns the existing series for the labels, or nil. isOwn is false if the result is a
// series for several labels.
func (h *hostCounters) lookup(labels requestLabels) (series *requestSeries, isOwn bool) {
	if series, isOwn = h.series.Load(labels); isOwn || !h.isFull.Load() {
		return series, isOwn
	}
	series, _ = h.series.Load(labels.overflowLabels())
	return series, false
}

package metrics

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/internal/cowmap"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// RateMetrics measure the rates of crawlers.
type RateMetrics struct {
	paced *prometheus.CounterVec
	under underWayCollector
	first *prometheus.HistogramVec
	times *cowmap.Map[string, prometheus.Observer]     // of first, by class
	by    *cowmap.Map[pacedLabels, prometheus.Counter] // avoids the lock of a vector
}

type pacedLabels struct {
	class string
	state rate.State
}

func newRateMetrics(name func(string) string) RateMetrics {
	return RateMetrics{
		paced: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("rate_requests_total"),
			Help: "Requests of crawlers of which a Crawl-delay or a limit asks something, by whether this one was one too many.",
		}, []string{"class", "rate"}),
		under: underWayCollector{make([]atomic.Int64, len(uaident.Classes())), prometheus.NewDesc(name("requests_in_flight"),
			"Requests of crawlers that the guard has let pass and that are not answered yet.", []string{"class"}, nil)},
		first: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    name("first_byte_seconds"),
			Help:    "How long the first byte took of answers of the site to crawlers that were not slowed.",
			Buckets: []float64{.05, .25, 1, 2, 5, 15},
		}, []string{"class"}),
		times: new(cowmap.Map[string, prometheus.Observer]),
		by:    new(cowmap.Map[pacedLabels, prometheus.Counter]),
	}
}

func (m *RateMetrics) rateCollectors() []prometheus.Collector {
	return []prometheus.Collector{m.paced, m.under, m.first}
}

// Paced counts a request with a rate. Classes without the * group share one label value.
func (m *RateMetrics) Paced(class uaident.Class, state rate.State) {
	label := classOf(class)
	m.by.LoadOrStore(pacedLabels{label, state}, func() prometheus.Counter {
		return m.paced.WithLabelValues(label, state.String())
	}).Inc()
}

// classOf returns the label of a class to which the * group applies, or the shared label.
func classOf(class uaident.Class) string {
	if class.JudgedByWildcard() {
		return class.String()
	}
	return judge.OtherName
}

// FirstByte records the time until the first byte of a response. Classes without the * group
// share one label value, and so do spoofed clients.
func (m *RateMetrics) FirstByte(class uaident.Class, took time.Duration) {
	label := classOf(class)
	m.times.LoadOrStore(label, func() prometheus.Observer { return m.first.WithLabelValues(label) }).Observe(took.Seconds())
}

// UnderWay returns the number of requests in progress of a class. Spoofed clients have the
// class other.
func (m *RateMetrics) UnderWay(class uaident.Class) *atomic.Int64 { return &m.under.counts[class] }

// underWayCollector collects the numbers of requests in progress.
type underWayCollector struct {
	counts []atomic.Int64 // by class
	desc   *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c underWayCollector) Describe(ch chan<- *prometheus.Desc) { ch <- c.desc }

// Collect implements prometheus.Collector.
func (c underWayCollector) Collect(ch chan<- prometheus.Metric) {
	for _, class := range uaident.Classes()[1:] { // browsers are not counted
		ch <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, float64(c.counts[class].Load()), class.String())
	}
}

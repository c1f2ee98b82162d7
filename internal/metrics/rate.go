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
	ratedRequests      *prometheus.CounterVec
	inFlight           inFlightCollector
	firstByte          *prometheus.HistogramVec
	firstByteObservers *cowmap.Map[string, prometheus.Observer]    // of firstByte, by class
	ratedCounters      *cowmap.Map[rateLabels, prometheus.Counter] // avoids the lock of a vector
}

type rateLabels struct {
	class string
	state rate.State
}

func newRateMetrics(name func(string) string) RateMetrics {
	return RateMetrics{
		ratedRequests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("rate_requests_total"),
			Help: "Requests of crawlers to which a Crawl-delay or a limit applies, by whether the request was over it.",
		}, []string{"class", "rate"}),
		inFlight: inFlightCollector{make([]atomic.Int64, len(uaident.Classes())), prometheus.NewDesc(name("requests_in_flight"),
			"Requests of crawlers that the guard has let pass and that are not answered yet.", []string{"class"}, nil)},
		firstByte: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    name("first_byte_seconds"),
			Help:    "Time to the first byte of responses to crawlers that were not slowed.",
			Buckets: []float64{.05, .25, 1, 2, 5, 15},
		}, []string{"class"}),
		firstByteObservers: new(cowmap.Map[string, prometheus.Observer]),
		ratedCounters:      new(cowmap.Map[rateLabels, prometheus.Counter]),
	}
}

func (m *RateMetrics) rateCollectors() []prometheus.Collector {
	return []prometheus.Collector{m.ratedRequests, m.inFlight, m.firstByte}
}

// CountRatedRequest counts a request with a rate. Classes without the * group share one label value.
func (m *RateMetrics) CountRatedRequest(class uaident.Class, state rate.State) {
	label := classLabel(class)
	m.ratedCounters.LoadOrStore(rateLabels{label, state}, func() prometheus.Counter {
		return m.ratedRequests.WithLabelValues(label, state.String())
	}).Inc()
}

// classLabel returns the label of a class to which the * group applies, or the shared label.
func classLabel(class uaident.Class) string {
	if class.WildcardApplies() {
		return class.String()
	}
	return judge.OtherName
}

// ObserveFirstByte records the time until the first byte of a response. Classes without the * group
// share one label value, and so do spoofed clients.
func (m *RateMetrics) ObserveFirstByte(class uaident.Class, duration time.Duration) {
	label := classLabel(class)
	m.firstByteObservers.LoadOrStore(label, func() prometheus.Observer { return m.firstByte.WithLabelValues(label) }).Observe(duration.Seconds())
}

// InFlight returns the number of requests in progress of a class. Spoofed clients have the
// class other.
func (m *RateMetrics) InFlight(class uaident.Class) *atomic.Int64 { return &m.inFlight.counts[class] }

// inFlightCollector collects the numbers of requests in progress.
type inFlightCollector struct {
	counts []atomic.Int64 // by class
	desc   *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c inFlightCollector) Describe(ch chan<- *prometheus.Desc) { ch <- c.desc }

// Collect implements prometheus.Collector.
func (c inFlightCollector) Collect(ch chan<- prometheus.Metric) {
	for _, class := range uaident.Classes()[1:] { // browsers are not counted
		ch <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, float64(c.counts[class].Load()), class.String())
	}
}

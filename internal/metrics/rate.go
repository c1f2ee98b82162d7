package metrics

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// numRateStates is the number of values of [rate.State].
const numRateStates = int(rate.SlowedDown + 1)

// rateMetrics measure how fast crawlers send requests, and how fast the site responds.
type rateMetrics struct {
	ratedRequests      *prometheus.CounterVec
	ratedCounters      seriesByIndex[prometheus.Counter] // The index consists of class and state.
	firstByte          *prometheus.HistogramVec
	firstByteObservers seriesByIndex[prometheus.Observer] // The index is the class.
	inFlight           []atomic.Int64                     // The index is the class.
}

func newRateMetrics(b metricBuilder) rateMetrics {
	classes := uaident.Classes()
	m := rateMetrics{
		ratedRequests:      b.newCounter("rate_requests_total", "Requests of crawlers with a Crawl-delay or a limit, by whether the request exceeded it.", "class", "rate"),
		ratedCounters:      make(seriesByIndex[prometheus.Counter], len(classes)*numRateStates),
		firstByte:          b.newHistogram("first_byte_seconds", "Time to the first byte of responses to crawlers that were not slowed.", []float64{.05, .25, 1, 2, 5, 15}, "class"),
		firstByteObservers: make(seriesByIndex[prometheus.Observer], len(classes)),
		inFlight:           make([]atomic.Int64, len(classes)),
	}
	inFlight := b.newDesc("requests_in_flight", "Requests of crawlers that the guard has let pass and that are not answered yet.", "class")
	b.registerCollector(func(ch metricSink) {
		for _, class := range classes[1:] { // Requests of browsers are not counted.
			ch.sendGauge(inFlight, float64(m.inFlight[class].Load()), class.String())
		}
	}, inFlight)
	return m
}

// CountRatedRequest counts a request of a crawler that has a Crawl-delay or a limit. state says
// whether the request was within it. Classes to which the * group does not apply share a label
// value.
func (m *rateMetrics) CountRatedRequest(class uaident.Class, state rate.State) {
	m.ratedCounters.getOrCreate(int(class)*numRateStates+int(state), func() prometheus.Counter {
		return m.ratedRequests.WithLabelValues(classLabel(class), state.String())
	}).Inc()
}

// classLabel returns the label value of a class. Classes to which the * group does not apply share
// judge.OtherName.
func classLabel(class uaident.Class) string {
	if class.WildcardApplies() {
		return class.String()
	}
	return judge.OtherName
}

// ObserveFirstByte records the time to the first byte of a response. Spoofed clients, and classes
// to which the * group does not apply, share a label value.
func (m *rateMetrics) ObserveFirstByte(class uaident.Class, duration time.Duration) {
	m.firstByteObservers.getOrCreate(int(class), func() prometheus.Observer { return m.firstByte.WithLabelValues(classLabel(class)) }).Observe(duration.Seconds())
}

// InFlightCounter returns the counter of requests of a class that are not answered yet. Spoofed
// clients have the class other.
func (m *rateMetrics) InFlightCounter(class uaident.Class) *atomic.Int64 { return &m.inFlight[class] }

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

// rateMetrics measure the rates of crawlers.
type rateMetrics struct {
	ratedRequests      *prometheus.CounterVec
	ratedCounters      seriesByIndex[prometheus.Counter] // by class and state
	firstByte          *prometheus.HistogramVec
	firstByteObservers seriesByIndex[prometheus.Observer] // by class
	inFlight           []atomic.Int64                     // by class
}

func newRateMetrics(b builder) rateMetrics {
	classes := uaident.Classes()
	m := rateMetrics{
		ratedRequests:      b.newCounter("rate_requests_total", "Requests of crawlers to which a Crawl-delay or a limit applies, by whether the request was over it.", "class", "rate"),
		ratedCounters:      make(seriesByIndex[prometheus.Counter], len(classes)*numRateStates),
		firstByte:          b.newHistogram("first_byte_seconds", "Time to the first byte of responses to crawlers that were not slowed.", []float64{.05, .25, 1, 2, 5, 15}, "class"),
		firstByteObservers: make(seriesByIndex[prometheus.Observer], len(classes)),
		inFlight:           make([]atomic.Int64, len(classes)),
	}
	inFlight := b.newDesc("requests_in_flight", "Requests of crawlers that the guard has let pass and that are not answered yet.", "class")
	b.registerCollector(func(ch metricSink) {
		for _, class := range classes[1:] { // browsers are not counted
			ch.sendGauge(inFlight, float64(m.inFlight[class].Load()), class.String())
		}
	}, inFlight)
	return m
}

// CountRatedRequest records a request with a rate. Classes without the * group share a label value.
func (m *rateMetrics) CountRatedRequest(class uaident.Class, state rate.State) {
	m.ratedCounters.getOrCreate(int(class)*numRateStates+int(state), func() prometheus.Counter {
		return m.ratedRequests.WithLabelValues(classLabel(class), state.String())
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
// and spoofed clients share a label value.
func (m *rateMetrics) ObserveFirstByte(class uaident.Class, duration time.Duration) {
	m.firstByteObservers.getOrCreate(int(class), func() prometheus.Observer { return m.firstByte.WithLabelValues(classLabel(class)) }).Observe(duration.Seconds())
}

// InFlight returns the number of requests in progress of a class. Spoofed clients have the
// class other.
func (m *rateMetrics) InFlight(class uaident.Class) *atomic.Int64 { return &m.inFlight[class] }

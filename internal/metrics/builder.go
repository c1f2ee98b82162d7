package metrics

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// builder creates metrics in a registry.
type builder struct{ *prometheus.Registry }

func metricName(name string) string {
	return prometheus.BuildFQName("caddy", "robots_guard", name)
}

func (b builder) counter(name, help string, labels ...string) *prometheus.CounterVec {
	return promauto.With(b.Registry).NewCounterVec(prometheus.CounterOpts{Name: metricName(name), Help: help}, labels)
}

func (b builder) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return promauto.With(b.Registry).NewGaugeVec(prometheus.GaugeOpts{Name: metricName(name), Help: help}, labels)
}

func (b builder) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return promauto.With(b.Registry).NewHistogramVec(prometheus.HistogramOpts{Name: metricName(name), Help: help, Buckets: buckets}, labels)
}

// desc describes a metric of a [stateCollector].
func (b builder) desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(metricName(name), help, labels, nil)
}

// collect registers metrics whose values collect reads when they are collected.
func (b builder) collect(collect func(metrics), descs ...*prometheus.Desc) {
	b.MustRegister(stateCollector{descs, collect})
}

// stateCollector collects metrics from the state of the module.
type stateCollector struct {
	descs   []*prometheus.Desc
	collect func(metrics)
}

// Describe implements [prometheus.Collector].
func (c stateCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range c.descs {
		ch <- desc
	}
}

// Collect implements [prometheus.Collector].
func (c stateCollector) Collect(ch chan<- prometheus.Metric) { c.collect(ch) }

// metrics receives collected metrics. A send can block.
type metrics chan<- prometheus.Metric

func (ch metrics) gauge(desc *prometheus.Desc, value float64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
}

func (ch metrics) counter(desc *prometheus.Desc, value uint64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(value), labels...)
}

// slots are the series of a vector by an index. They avoid the lock of the vector, which all requests
// would share.
type slots[M any] []atomic.Pointer[M]

// get returns the series at an index. Several goroutines may create the same series at once.
func (s slots[M]) get(i int, create func() M) M {
	series := s[i].Load()
	if series == nil {
		series = new(create())
		s[i].Store(series)
	}
	return *series
}

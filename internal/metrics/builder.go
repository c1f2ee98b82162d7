package metrics

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metricBuilder creates metrics, and registers them in a registry.
type metricBuilder struct{ *prometheus.Registry }

func metricName(name string) string {
	return prometheus.BuildFQName("caddy", "robots_guard", name)
}

func (b metricBuilder) newCounter(name, help string, labels ...string) *prometheus.CounterVec {
	return promauto.With(b.Registry).NewCounterVec(prometheus.CounterOpts{Name: metricName(name), Help: help}, labels)
}

func (b metricBuilder) newGauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return promauto.With(b.Registry).NewGaugeVec(prometheus.GaugeOpts{Name: metricName(name), Help: help}, labels)
}

func (b metricBuilder) newHistogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return promauto.With(b.Registry).NewHistogramVec(prometheus.HistogramOpts{Name: metricName(name), Help: help, Buckets: buckets}, labels)
}

// newDesc returns the description of a metric of a [stateCollector].
func (b metricBuilder) newDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(metricName(name), help, labels, nil)
}

// registerCollector registers the metrics that descs describe. collect sends their values at each
// scrape.
func (b metricBuilder) registerCollector(collect func(metricSink), descs ...*prometheus.Desc) {
	b.MustRegister(stateCollector{descs, collect})
}

// stateCollector collects metrics from the state of the module at each scrape.
type stateCollector struct {
	descs   []*prometheus.Desc
	collect func(metricSink)
}

// Describe implements [prometheus.Collector].
func (c stateCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range c.descs {
		ch <- desc
	}
}

// Collect implements [prometheus.Collector].
func (c stateCollector) Collect(ch chan<- prometheus.Metric) { c.collect(ch) }

// metricSink receives the metrics of a scrape. A send can block.
type metricSink chan<- prometheus.Metric

func (ch metricSink) sendGauge(desc *prometheus.Desc, value float64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
}

func (ch metricSink) sendCounter(desc *prometheus.Desc, value uint64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(value), labels...)
}

// seriesByIndex contains series of a Prometheus vector, with an index instead of labels. It avoids
// the lock of the vector, which all requests would share.
type seriesByIndex[M any] []atomic.Pointer[M]

// getOrCreate returns the series at an index. Several goroutines may create the same series at
// once.
func (s seriesByIndex[M]) getOrCreate(i int, create func() M) M {
	series := s[i].Load()
	if series == nil {
		series = new(create())
		s[i].Store(series)
	}
	return *series
}

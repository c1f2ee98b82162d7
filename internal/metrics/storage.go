package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Results of an attempt.
const (
	resultSuccess = "success"
	resultFailure = "failure"
)

func resultLabel(err error) string {
	if err != nil {
		return resultFailure
	}
	return resultSuccess
}

// StorageMetrics count operations on the storage.
type StorageMetrics struct {
	writes    *prometheus.CounterVec
	reads     *prometheus.CounterVec
	lastWrite prometheus.Gauge
}

func newStorageMetrics(name func(string) string, kinds, results []string) StorageMetrics {
	m := StorageMetrics{
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("storage_writes_total"),
			Help: "Attempts to write a value to the storage.",
		}, []string{"kind", "result"}),
		reads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("storage_reads_total"),
			Help: "Stored values of all instances that were read, by result.",
		}, []string{"kind", "result"}),
		lastWrite: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: name("storage_write_timestamp_seconds"),
			Help: "When a value was last written to the storage with success, 0 if never.",
		}),
	}
	for _, kind := range kinds {
		for _, result := range []string{resultSuccess, resultFailure} {
			m.writes.WithLabelValues(kind, result)
		}
		for _, result := range results {
			m.reads.WithLabelValues(kind, result)
		}
	}
	return m
}

func (m *StorageMetrics) storageCollectors() []prometheus.Collector {
	return []prometheus.Collector{m.writes, m.reads, m.lastWrite}
}

// ValueWritten implements [store.Observer].
func (m *StorageMetrics) ValueWritten(kind string, at time.Time, err error) {
	m.writes.WithLabelValues(kind, resultLabel(err)).Inc()
	if err == nil {
		m.lastWrite.Set(timestamp(at))
	}
}

// ValueRead implements [store.Observer].
func (m *StorageMetrics) ValueRead(kind, result string) {
	m.reads.WithLabelValues(kind, result).Inc()
}

package caddymodule

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// storageMetrics count what is done with the storage. They stay at zero without
// one.
type storageMetrics struct {
	writes    *prometheus.CounterVec
	reads     *prometheus.CounterVec
	lastWrite prometheus.Gauge
}

// What can come of reading a value.
const (
	readGood     = "good"
	readSetAside = "set_aside" // damaged, or of a newer version
	readExpired  = "expired"   // nobody has refreshed it for long
	readFailed   = "failed"
)

func newStorageMetrics(name func(string) string) storageMetrics {
	m := storageMetrics{
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("storage_writes_total"),
			Help: "Attempts to write a value to the storage.",
		}, []string{"kind", "result"}),
		reads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("storage_reads_total"),
			Help: "Values of all instances in the storage that were looked at, by what came of it.",
		}, []string{"kind", "result"}),
		lastWrite: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: name("storage_write_timestamp_seconds"),
			Help: "When a value was last written to the storage with success, 0 if never.",
		}),
	}
	for _, kind := range []string{dirPolicies, dirReaders, dirChanges, dirLists, dirLedger} {
		for _, result := range []string{"success", "failure"} {
			m.writes.WithLabelValues(kind, result)
		}
		for _, result := range []string{readGood, readSetAside, readExpired, readFailed} {
			m.reads.WithLabelValues(kind, result)
		}
	}
	return m
}

func (m *storageMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.writes, m.reads, m.lastWrite}
}

// storageWritten counts an attempt to write a value.
func (m *storageMetrics) storageWritten(kind string, now time.Time, err error) {
	if err != nil {
		m.writes.WithLabelValues(kind, "failure").Inc()
		return
	}
	m.writes.WithLabelValues(kind, "success").Inc()
	m.lastWrite.Set(timestamp(now))
}

// storageRead counts a value that was looked at.
func (m *storageMetrics) storageRead(kind, result string) {
	m.reads.WithLabelValues(kind, result).Inc()
}

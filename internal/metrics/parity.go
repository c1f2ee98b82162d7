package metrics

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/internal/parity"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// ParityMetrics count the responses to crawlers.
type ParityMetrics struct {
	answers  *prometheus.CounterVec
	robots   *prometheus.CounterVec
	bytes    *prometheus.CounterVec
	visits   *prometheus.CounterVec
	findings parityCollector
	by       []atomic.Pointer[answerCounters] // by class, kind and status; avoids the lock of a vector
}

// answerCounters are the counters for the same labels. count is nil if only bytes are
// counted.
type answerCounters struct{ count, bytes prometheus.Counter }

func newParityMetrics(name func(string) string, from Observed) ParityMetrics {
	return ParityMetrics{
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("answers_total"),
			Help: "Answers of the site to requests that its robots.txt allows, by the class of the crawler.",
		}, []string{"class", "status"}),
		robots: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("robots_answers_total"),
			Help: "Answers of the site to requests of crawlers for a robots.txt.",
		}, []string{"status"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("answer_bytes_total"),
			Help: "Bytes of the bodies of all answers of the site to crawlers.",
		}, []string{"class"}),
		visits: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("visits_total"),
			Help: "Pages that people opened from an assistant, as their browsers say.",
		}, []string{"assistant"}),
		findings: parityCollector{from, prometheus.NewDesc(name("parity_findings"),
			"Verified crawlers that do not get pages which the robots.txt of a host allows, by finding; absent for none.", []string{"host", "finding"}, nil)},
		by: make([]atomic.Pointer[answerCounters], len(uaident.Classes())*int(parity.NumKinds)*int(parity.NumStatuses)),
	}
}

func (m *ParityMetrics) parityCollectors() []prometheus.Collector {
	return []prometheus.Collector{m.answers, m.robots, m.bytes, m.visits, m.findings}
}

// Answered counts a response of the site to a crawler. Spoofed clients have the class other.
func (m *ParityMetrics) Answered(class uaident.Class, kind parity.Kind, status parity.Status, size int64) {
	place := &m.by[(int(class)*int(parity.NumKinds)+int(kind))*int(parity.NumStatuses)+int(status)]
	c := place.Load()
	if c == nil {
		c = m.counters(class, kind, status)
		place.Store(c) // several goroutines store the same counters
	}
	if c.count != nil {
		c.count.Inc()
	}
	c.bytes.Add(float64(max(size, 0)))
}

func (m *ParityMetrics) counters(class uaident.Class, kind parity.Kind, status parity.Status) *answerCounters {
	c := &answerCounters{bytes: m.bytes.WithLabelValues(class.String())}
	switch kind {
	case parity.Allowed:
		c.count = m.answers.WithLabelValues(class.String(), status.String())
	case parity.RobotsTxt:
		c.count = m.robots.WithLabelValues(status.String())
	}
	return c
}

// Visited counts a visit from an assistant, by its index in [parity.Assistants].
func (m *ParityMetrics) Visited(from int) { m.visits.WithLabelValues(parity.AssistantName(from)).Inc() }

// parityCollector collects the findings.
type parityCollector struct {
	from     Observed
	findings *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c parityCollector) Describe(ch chan<- *prometheus.Desc) { ch <- c.findings }

// Collect implements prometheus.Collector.
func (c parityCollector) Collect(ch chan<- prometheus.Metric) {
	for of, n := range c.from.ParityFindings() {
		ch <- prometheus.MustNewConstMetric(c.findings, prometheus.GaugeValue, float64(n), of.Host, string(of.What))
	}
}

// ParityFinding is a contradiction between the robots.txt of a host and its responses to crawlers.
type ParityFinding struct {
	Host string
	What parity.What
}

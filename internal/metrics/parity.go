package metrics

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// ParityMetrics count the responses to crawlers.
type ParityMetrics struct {
	responses        *prometheus.CounterVec
	robotsResponses  *prometheus.CounterVec
	bytes            *prometheus.CounterVec
	visits           *prometheus.CounterVec
	findings         parityCollector
	countersByLabels []atomic.Pointer[responseCounters] // by class, kind and status; avoids the lock of a vector
}

// responseCounters are the counters for the same labels. count is nil if only bytes are
// counted.
type responseCounters struct{ count, bytes prometheus.Counter }

func newParityMetrics(name func(string) string, state StateSource) ParityMetrics {
	return ParityMetrics{
		responses: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("answers_total"),
			Help: "Answers of the site to requests that its robots.txt allows, by the class of the crawler.",
		}, []string{"class", "status"}),
		robotsResponses: prometheus.NewCounterVec(prometheus.CounterOpts{
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
		findings: parityCollector{state, prometheus.NewDesc(name("parity_findings"),
			"Verified crawlers that do not get pages which the robots.txt of a host allows, by finding; absent for none.", []string{"host", "finding"}, nil)},
		countersByLabels: make([]atomic.Pointer[responseCounters], len(uaident.Classes())*int(responseaudit.NumKinds)*int(responseaudit.NumStatuses)),
	}
}

func (m *ParityMetrics) parityCollectors() []prometheus.Collector {
	return []prometheus.Collector{m.responses, m.robotsResponses, m.bytes, m.visits, m.findings}
}

// CountResponse counts a response of the site to a crawler. Spoofed clients have the class other.
func (m *ParityMetrics) CountResponse(class uaident.Class, kind responseaudit.Kind, status responseaudit.Status, size int64) {
	slot := &m.countersByLabels[(int(class)*int(responseaudit.NumKinds)+int(kind))*int(responseaudit.NumStatuses)+int(status)]
	counters := slot.Load()
	if counters == nil {
		counters = m.counters(class, kind, status)
		slot.Store(counters) // several goroutines store the same counters
	}
	if counters.count != nil {
		counters.count.Inc()
	}
	counters.bytes.Add(float64(max(size, 0)))
}

func (m *ParityMetrics) counters(class uaident.Class, kind responseaudit.Kind, status responseaudit.Status) *responseCounters {
	c := &responseCounters{bytes: m.bytes.WithLabelValues(class.String())}
	switch kind {
	case responseaudit.KindAllowed:
		c.count = m.responses.WithLabelValues(class.String(), status.String())
	case responseaudit.KindRobotsTxt:
		c.count = m.robotsResponses.WithLabelValues(status.String())
	}
	return c
}

// CountAssistantVisit counts a visit from an assistant, by its index in [responseaudit.Assistants].
func (m *ParityMetrics) CountAssistantVisit(from int) {
	m.visits.WithLabelValues(responseaudit.AssistantName(from)).Inc()
}

// parityCollector collects the findings.
type parityCollector struct {
	state    StateSource
	findings *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c parityCollector) Describe(ch chan<- *prometheus.Desc) { ch <- c.findings }

// Collect implements prometheus.Collector.
func (c parityCollector) Collect(ch chan<- prometheus.Metric) {
	for finding, count := range c.state.AuditFindings() {
		ch <- prometheus.MustNewConstMetric(c.findings, prometheus.GaugeValue, float64(count), finding.Host, string(finding.What))
	}
}

// AuditFinding is a contradiction between the robots.txt of a host and its responses to crawlers.
type AuditFinding struct {
	Host string
	What responseaudit.FindingKind
}

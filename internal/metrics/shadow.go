package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/internal/shadow"
)

// ShadowMetrics count the effects of trial files.
type ShadowMetrics struct {
	shadowRequests *prometheus.CounterVec
	byDifference   [shadow.NumDifferences]prometheus.Counter
}

func newShadowMetrics(name func(string) string) ShadowMetrics {
	m := ShadowMetrics{shadowRequests: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: name("shadow_requests_total"),
		Help: "Requests also judged by a shadow robots.txt, by the difference to the verdict in force.",
	}, []string{"difference"})}
	for d := range m.byDifference {
		m.byDifference[d] = m.shadowRequests.WithLabelValues(shadow.Difference(d).String())
	}
	return m
}

// CountShadowVerdict counts a request by the difference of its verdict.
func (m *ShadowMetrics) CountShadowVerdict(d shadow.Difference) { m.byDifference[d].Inc() }

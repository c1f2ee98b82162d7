package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/internal/forward"
)

// DecisionMetrics count questions of other proxies.
type DecisionMetrics struct{ undecided *prometheus.CounterVec }

func newDecisionMetrics(name func(string) string) DecisionMetrics {
	m := DecisionMetrics{prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: name("undecided_total"),
		Help: "Requests to decide that were not answered, by reason.",
	}, []string{"reason"})}
	for _, reason := range forward.Reasons() {
		m.undecided.WithLabelValues(reason.String())
	}
	return m
}

// CountUndecided counts a question without an answer.
func (m *DecisionMetrics) CountUndecided(reason forward.Reason) {
	m.undecided.WithLabelValues(reason.String()).Inc()
}

package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/internal/forward"
)

// DecisionMetrics tell how proxies ask about requests.
type DecisionMetrics struct{ undecided *prometheus.CounterVec }

func newDecisionMetrics(name func(string) string) DecisionMetrics {
	m := DecisionMetrics{prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: name("undecided_total"),
		Help: "Questions of proxies about a request that were not answered, by what is wrong with them.",
	}, []string{"reason"})}
	for _, reason := range forward.Reasons() {
		m.undecided.WithLabelValues(reason.String())
	}
	return m
}

// Undecided counts a question that was not answered.
func (m *DecisionMetrics) Undecided(reason forward.Reason) {
	m.undecided.WithLabelValues(reason.String()).Inc()
}

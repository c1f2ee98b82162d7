package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
)

// OperatorMetrics are values for dashboards and alerts other than counters.
type OperatorMetrics struct {
	hosts        *hosts
	requests     *requestCounters // of the hosts
	handlers     *prometheus.GaugeVec
	searchBlocks *searchBlocks
}

func newOperatorMetrics(name func(string) string, hosts *hosts) OperatorMetrics {
	m := OperatorMetrics{
		handlers: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: name("handlers"),
			Help: "Handlers in the running configuration, by mode.",
		}, []string{"mode"}),
		searchBlocks: newSearchBlocks(name),
		hosts:        hosts,
	}
	m.requests = &requestCounters{
		desc: prometheus.NewDesc(name("requests_total"), "Judged requests. Requests of browsers are not judged.",
			[]string{"host", "crawler", "class", "identity", "verdict", "action"}, nil),
		overflow: prometheus.NewDesc(name("label_overflow_total"), "Requests counted as _other because the host has too many label values.",
			[]string{"host"}, nil),
		hosts: hosts,
	}
	for _, mode := range []string{"monitor", "enforce"} {
		m.handlers.WithLabelValues(mode)
	}
	return m
}

// CountHandler counts a handler until its configuration ends.
func (m *OperatorMetrics) CountHandler(ctx context.Context, mode string) {
	handlers := m.handlers.WithLabelValues(mode)
	handlers.Inc()
	context.AfterFunc(ctx, handlers.Dec)
}

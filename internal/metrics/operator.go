package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/internal/cowmap"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// OperatorMetrics are what dashboards and alerts need besides the counts.
type OperatorMetrics struct {
	Requests *RequestCounters // that were judged
	overflow *prometheus.CounterVec
	handlers *prometheus.GaugeVec
	crawlers *prometheus.GaugeVec
	root     *prometheus.GaugeVec
	rules    *prometheus.GaugeVec
	search   *searchBlocks
	Labels   *Labels // which crawlers have one
	hosts    *cowmap.Sharded[string, *Host]
}

func newOperatorMetrics(name func(string) string) OperatorMetrics {
	m := OperatorMetrics{
		overflow: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("label_overflow_total"),
			Help: "Requests that were summed up as _other since the host has no room for more label values.",
		}, []string{"host"}),
		handlers: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: name("handlers"),
			Help: "Handlers in the running configuration, by mode.",
		}, []string{"mode"}),
		crawlers: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: name("crawler_read_timestamp_seconds"),
			Help: "When a crawler last read the robots.txt; absent if it did not since the start.",
		}, []string{"host", "crawler"}),
		root: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: name("root_disallowed"),
			Help: "1 if the current robots.txt of a configured host forbids / to crawlers that it does not name, else 0.",
		}, []string{"host"}),
		rules: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: name("rules"),
			Help: "Rules in the current robots.txt of a configured host; 0 if there is none.",
		}, []string{"host"}),
		search: newSearchBlocks(name),
		Labels: newLabels(),
		hosts:  new(cowmap.Sharded[string, *Host]),
	}
	m.Requests = &RequestCounters{
		desc: prometheus.NewDesc(name("requests_total"), "Requests that were judged. Those of browsers are not.",
			[]string{"host", "crawler", "class", "identity", "verdict", "action"}, nil),
		overflow: m.overflow,
	}
	for _, mode := range []string{"monitor", "enforce"} {
		m.handlers.WithLabelValues(mode)
	}
	return m
}

// Configured counts a handler until its configuration ends.
func (m *OperatorMetrics) Configured(ctx context.Context, mode string) {
	handlers := m.handlers.WithLabelValues(mode)
	handlers.Inc()
	context.AfterFunc(ctx, handlers.Dec)
}

// ReadBy notes that a crawler knows the rules of a host now. Those that share a
// label value with others are left out: the reading of one says nothing about
// the rest.
func (m *OperatorMetrics) ReadBy(host, crawler string, at time.Time) {
	if crawler[0] != '_' {
		m.crawlers.WithLabelValues(host, crawler).Set(timestamp(at))
	}
}

// judged shows how much a host forbids: its rules, and whether it shuts out the
// crawlers that it does not name.
func (m *OperatorMetrics) judged(host string, robots *policy.Robots) {
	m.rules.WithLabelValues(host).Set(float64(robots.RuleCount()))
	var root policy.Target
	root.Set("/", false)
	value := 0.0
	if !(judge.Subject{Wildcard: true}).Verdict(robots, &root).Allowed {
		value = 1
	}
	m.root.WithLabelValues(host).Set(value)
}

package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
)

// ManagedMetrics count the activity of robots_txt.
type ManagedMetrics struct {
	composed *prometheus.HistogramVec
	duration prometheus.Observer
	texts    *prometheus.CounterVec
	textHit  prometheus.Counter
	textMiss prometheus.Counter
	failed   *prometheus.CounterVec
	changes  *prometheus.CounterVec
	next     prometheus.GaugeFunc
	waiting  prometheus.GaugeFunc
}

// stages are the steps of composing a robots.txt that can fail: reading the base or a list of
// rules, composing, the gate, and the history of changes.
var stages = []string{"base", "rules", "compose", "gate", stageHistory}

const stageHistory = "history"

func newManagedMetrics(name func(string) string, from Observed) ManagedMetrics {
	m := ManagedMetrics{
		composed: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    name("compose_duration_seconds"),
			Help:    "Duration of composing and checking a file of robots_txt.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5},
		}, nil),
		texts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("composed_lookups_total"),
			Help: "Requests for a robots.txt of robots_txt, by whether the file was cached.",
		}, []string{"result"}),
		failed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("compose_errors_total"),
			Help: "Files of robots_txt that could not be composed or published, by failed step.",
		}, []string{"stage"}),
		changes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("changes_total"),
			Help: "State changes of robots_txt changes by this instance, by new state.",
		}, []string{"state"}),
		waiting: prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: name("changes_waiting"),
			Help: "Changes of robots_txt that wait for confirmation.",
		}, func() float64 { return float64(from.ChangesWaiting()) }),
		next: prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: name("next_text_timestamp_seconds"),
			Help: "Time of the next scheduled file of a robots_txt, 0 for none.",
		}, func() float64 {
			if at := from.NextText(); !at.IsZero() {
				return float64(at.Unix())
			}
			return 0
		}),
	}
	for _, state := range publish.ObservedStates() {
		m.changes.WithLabelValues(string(state))
	}
	m.duration = m.composed.WithLabelValues()
	m.textHit, m.textMiss = m.texts.WithLabelValues("hit"), m.texts.WithLabelValues("miss")
	for _, stage := range stages {
		m.failed.WithLabelValues(stage)
	}
	return m
}

func (m *ManagedMetrics) managedCollectors() []prometheus.Collector {
	return []prometheus.Collector{m.composed, m.texts, m.failed, m.changes, m.next, m.waiting}
}

// Composed records the duration of composing a file.
func (m *ManagedMetrics) Composed(took time.Duration) { m.duration.Observe(took.Seconds()) }

// PageRequested counts a robots fetch. cached reports whether the file was cached.
func (m *ManagedMetrics) PageRequested(cached bool) {
	if cached {
		m.textHit.Inc()
	} else {
		m.textMiss.Inc()
	}
}

// PageFailed counts a failure in one of the [stages].
func (m *ManagedMetrics) PageFailed(stage string) { m.failed.WithLabelValues(stage).Inc() }

// Changed counts a change with a new state.
func (m *ManagedMetrics) Changed(_ string, c publish.Change) {
	m.changes.WithLabelValues(string(c.State)).Inc()
}

// HistoryFailed counts a failure of the history.
func (m *ManagedMetrics) HistoryFailed(_ string, err error) {
	if err != nil {
		m.PageFailed(stageHistory)
	}
}

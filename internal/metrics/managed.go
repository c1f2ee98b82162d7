package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
)

// ManagedMetrics count the activity of robots_txt.
type ManagedMetrics struct {
	composeDuration *prometheus.HistogramVec
	composeObserver prometheus.Observer
	composeLookups  *prometheus.CounterVec
	composeHits     prometheus.Counter
	composeMisses   prometheus.Counter
	composeErrors   *prometheus.CounterVec
	changeStates    *prometheus.CounterVec
	nextChange      prometheus.GaugeFunc
	waitingChanges  prometheus.GaugeFunc
}

// stages are the steps of composing a robots.txt that can fail: reading the base or a list of
// rules, composing, the gate, and the history of changes.
var stages = []string{"base", "rules", "compose", "gate", stageHistory}

const stageHistory = "history"

func newManagedMetrics(name func(string) string, state StateSource) ManagedMetrics {
	m := ManagedMetrics{
		composeDuration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    name("compose_duration_seconds"),
			Help:    "Duration of composing and checking a file of robots_txt.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5},
		}, nil),
		composeLookups: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("composed_lookups_total"),
			Help: "Requests for a robots.txt of robots_txt, by whether the file was cached.",
		}, []string{"result"}),
		composeErrors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("compose_errors_total"),
			Help: "Files of robots_txt that could not be composed or published, by failed step.",
		}, []string{"stage"}),
		changeStates: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("changes_total"),
			Help: "State changes of robots_txt changes by this instance, by new state.",
		}, []string{"state"}),
		waitingChanges: prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: name("changes_waiting"),
			Help: "Changes of robots_txt that wait for confirmation.",
		}, func() float64 { return float64(state.WaitingChanges()) }),
		nextChange: prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: name("next_text_timestamp_seconds"),
			Help: "Time of the next scheduled file of a robots_txt, 0 for none.",
		}, func() float64 {
			if at := state.NextManagedChange(); !at.IsZero() {
				return float64(at.Unix())
			}
			return 0
		}),
	}
	for _, state := range publish.ObservedStates() {
		m.changeStates.WithLabelValues(string(state))
	}
	m.composeObserver = m.composeDuration.WithLabelValues()
	m.composeHits, m.composeMisses = m.composeLookups.WithLabelValues("hit"), m.composeLookups.WithLabelValues("miss")
	for _, stage := range stages {
		m.composeErrors.WithLabelValues(stage)
	}
	return m
}

func (m *ManagedMetrics) managedCollectors() []prometheus.Collector {
	return []prometheus.Collector{m.composeDuration, m.composeLookups, m.composeErrors, m.changeStates, m.nextChange, m.waitingChanges}
}

// Composed records the duration of composing a file.
func (m *ManagedMetrics) Composed(took time.Duration) { m.composeObserver.Observe(took.Seconds()) }

// PageRequested counts a robots fetch. cached reports whether the file was cached.
func (m *ManagedMetrics) PageRequested(cached bool) {
	if cached {
		m.composeHits.Inc()
	} else {
		m.composeMisses.Inc()
	}
}

// PageFailed counts a failure in one of the [stages].
func (m *ManagedMetrics) PageFailed(stage string) { m.composeErrors.WithLabelValues(stage).Inc() }

// Changed counts a change with a new state.
func (m *ManagedMetrics) Changed(_ string, c publish.Change) {
	m.changeStates.WithLabelValues(string(c.State)).Inc()
}

// HistoryFailed counts a failure of the history.
func (m *ManagedMetrics) HistoryFailed(_ string, err error) {
	if err != nil {
		m.PageFailed(stageHistory)
	}
}

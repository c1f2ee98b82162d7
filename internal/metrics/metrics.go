package metrics

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/internal/forward"
	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
	"github.com/robotsguard/caddy-robots-guard/internal/shadow"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify/botauth"
)

// Metrics are the Prometheus metrics of the module. All label values come from closed sets.
type Metrics struct {
	registry *prometheus.Registry
	hosts    *hosts
	fileCollector
	responseMetrics
	rateMetrics

	handlers          *prometheus.GaugeVec
	fetches           *prometheus.CounterVec
	fetchDuration     *prometheus.HistogramVec
	cacheHits         prometheus.Counter
	cacheMisses       prometheus.Counter
	shadowVerdicts    [shadow.NumDifferences]prometheus.Counter
	undecidedForwards *prometheus.CounterVec

	verifications        *prometheus.CounterVec
	verificationCounters seriesByIndex[prometheus.Counter] // The index consists of method and identity.
	signatures           *prometheus.CounterVec
	directoryFetches     *prometheus.CounterVec

	storageWrites *prometheus.CounterVec
	storageReads  *prometheus.CounterVec
	lastWrite     prometheus.Gauge
	notifications *prometheus.CounterVec

	composeDuration prometheus.Histogram
	composeHits     prometheus.Counter
	composeMisses   prometheus.Counter
	composeErrors   *prometheus.CounterVec
	changeStates    *prometheus.CounterVec
}

// These are the results of an attempt.
const (
	resultSuccess = "success"
	resultFailure = "failure"
)

// stages are the steps of composing a robots.txt that can fail: reading the base or a rule list,
// composing, the gate, and the history of changes.
var stages = []string{publish.StageBase, publish.StageRules, publish.StageCompose, publish.StageGate, stageHistory}

const stageHistory = "history"

// New returns the metrics. state provides values at each scrape. kinds are the kinds of stored
// values, and results the possible results of reading a stored value.
func New(state StateSource, kinds, results []string) *Metrics {
	b := metricBuilder{prometheus.NewRegistry()}
	m := &Metrics{
		registry: b.Registry, hosts: new(hosts), responseMetrics: newResponseMetrics(b), rateMetrics: newRateMetrics(b),

		handlers:          b.newGauge("handlers", "Handlers robots_guard in the running configuration, by mode.", "mode"),
		fetches:           b.newCounter("fetches_total", "Fetches of a robots.txt, by source and result.", "source", "result"),
		fetchDuration:     b.newHistogram("fetch_duration_seconds", "Duration of fetching a robots.txt.", []float64{.001, .005, .01, .05, .1, .25, .5, 1, 2.5, 5, 10}, "source"),
		undecidedForwards: b.newCounter("undecided_total", "Requests of other proxies to decide that got no decision, by reason.", "reason"),

		verifications:        b.newCounter("identity_checks_total", "Verifications of crawlers by method and result. 0 without verify.", "method", "identity"),
		verificationCounters: make(seriesByIndex[prometheus.Counter], int(verify.WebBotAuth+1)*int(verify.Spoofed+1)),
		signatures:           b.newCounter("signature_checks_total", "Checked signatures of crawler requests (Web Bot Auth), by result.", "reason"),
		directoryFetches:     b.newCounter("signature_directory_fetches_total", "Fetches of the key directories of signing agents, by result.", "result"),

		storageWrites: b.newCounter("storage_writes_total", "Attempts to write a value to the storage.", "kind", "result"),
		storageReads:  b.newCounter("storage_reads_total", "Reads of stored values of all instances, by result.", "kind", "result"),
		lastWrite:     b.newGauge("storage_write_timestamp_seconds", "Time of the last successful write to the storage; 0 if there was none.").WithLabelValues(),
		notifications: b.newCounter("notifications_total", "Alert messages to the receivers of notify, by result of the last attempt.", "result"),

		composeErrors: b.newCounter("compose_errors_total", "Failures to compose or publish a robots.txt, by step.", "stage"),
		changeStates:  b.newCounter("changes_total", "Changes of robots_txt that got a new state on this instance, by state.", "state"),
	}
	m.fileCollector = newFileCollector(b, m.hosts)
	registerRequestMetrics(b, m.hosts)
	registerStateMetrics(b, state)
	cacheLookups := b.newCounter("lookups_total", "Lookups in the policy cache, by whether a copy was cached.", "result")
	m.cacheHits, m.cacheMisses = cacheLookups.WithLabelValues("hit"), cacheLookups.WithLabelValues("miss")
	composeLookups := b.newCounter("composed_lookups_total", "Requests for a robots.txt of robots_txt, by whether the file was cached.", "result")
	m.composeHits, m.composeMisses = composeLookups.WithLabelValues("hit"), composeLookups.WithLabelValues("miss")
	m.composeDuration = b.newHistogram("compose_duration_seconds", "Duration of composing and checking a file of robots_txt.", []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5}).WithLabelValues().(prometheus.Histogram)
	shadowRequests := b.newCounter("shadow_requests_total", "Requests also judged by a shadow robots.txt, by the difference to the verdict in force.", "difference")
	for d := range m.shadowVerdicts {
		m.shadowVerdicts[d] = shadowRequests.WithLabelValues(shadow.Difference(d).String())
	}
	m.createSeries(kinds, results)
	return m
}

// createSeries creates series with the value 0, so that queries see their first increase.
func (m *Metrics) createSeries(kinds, results []string) {
	for _, mode := range []string{"monitor", "enforce"} {
		m.handlers.WithLabelValues(mode)
	}
	for _, reason := range forward.AllReasons() {
		m.undecidedForwards.WithLabelValues(reason.String())
	}
	for _, result := range []string{resultSuccess, resultFailure} {
		m.notifications.WithLabelValues(result)
		for _, kind := range kinds {
			m.storageWrites.WithLabelValues(kind, result)
		}
	}
	for _, kind := range kinds {
		for _, result := range results {
			m.storageReads.WithLabelValues(kind, result)
		}
	}
	for _, state := range publish.ObservedStates() {
		m.changeStates.WithLabelValues(string(state))
	}
	for _, stage := range stages {
		m.composeErrors.WithLabelValues(stage)
	}
}

// Register registers the metrics with the Prometheus registry of a configuration. A second call for
// the same registry has no effect.
func (m *Metrics) Register(registry prometheus.Registerer) error {
	return registerOnce(registry, m.registry)
}

// RegisterWhileUsed registers the metrics with the Prometheus registry of a configuration, but
// collects nothing while isUsed returns false. A later Register has no effect.
func (m *Metrics) RegisterWhileUsed(isUsed func() bool, registry prometheus.Registerer) error {
	return registerOnce(registry, conditionalCollector{m.registry, isUsed})
}

// registerOnce registers a collector. registerOnce returns no error if the collector is registered
// already.
func registerOnce(registry prometheus.Registerer, c prometheus.Collector) error {
	if err := registry.Register(c); !errors.As(err, new(prometheus.AlreadyRegisteredError)) {
		return err
	}
	return nil
}

// conditionalCollector collects nothing while isUsed returns false.
type conditionalCollector struct {
	prometheus.Collector
	isUsed func() bool
}

// Collect implements [prometheus.Collector].
func (c conditionalCollector) Collect(ch chan<- prometheus.Metric) {
	if c.isUsed() {
		c.Collector.Collect(ch)
	}
}

// CountHandler counts a handler with the given mode as running until ctx ends, the context of its
// configuration.
func (m *Metrics) CountHandler(ctx context.Context, mode string) {
	handlers := m.handlers.WithLabelValues(mode)
	handlers.Inc()
	context.AfterFunc(ctx, handlers.Dec)
}

// ObserveFetch records the result and the duration of a fetch of a robots.txt. source is the kind
// of source, such as server or url.
func (m *Metrics) ObserveFetch(source string, result policy.AccessResult, duration time.Duration) {
	m.fetches.WithLabelValues(source, result.String()).Inc()
	m.fetchDuration.WithLabelValues(source).Observe(duration.Seconds())
}

// CountCacheLookup counts a lookup in the cache of robots.txt files. found reports whether the
// cache had the file.
func (m *Metrics) CountCacheLookup(found bool) {
	if found {
		m.cacheHits.Inc()
	} else {
		m.cacheMisses.Inc()
	}
}

// CountShadowVerdict counts a request by the difference between its verdicts: by the robots.txt in
// force and by the one on trial.
func (m *Metrics) CountShadowVerdict(d shadow.Difference) { m.shadowVerdicts[d].Inc() }

// CountUndecided counts a request of another proxy for a decision that the guard could not answer.
func (m *Metrics) CountUndecided(reason forward.Reason) {
	m.undecidedForwards.WithLabelValues(reason.String()).Inc()
}

// CountVerification counts a verification of a crawler by method and result.
func (m *Metrics) CountVerification(method verify.Method, identity verify.State) {
	m.verificationCounters.getOrCreate(int(method)*int(verify.Spoofed+1)+int(identity), func() prometheus.Counter {
		return m.verifications.WithLabelValues(method.String(), identity.String())
	}).Inc()
}

// CountSignatureCheck counts the check of a request's signature by its result.
func (m *Metrics) CountSignatureCheck(reason botauth.Reason) {
	m.signatures.WithLabelValues(reason.String()).Inc()
}

// CountDirectoryFetch counts a fetch of the key directory of a signing agent by its result.
func (m *Metrics) CountDirectoryFetch(result string) {
	m.directoryFetches.WithLabelValues(result).Inc()
}

// ValueWritten implements [store.Observer].
func (m *Metrics) ValueWritten(kind string, at time.Time, err error) {
	m.storageWrites.WithLabelValues(kind, resultLabel(err)).Inc()
	if err == nil {
		m.lastWrite.Set(unixSeconds(at))
	}
}

// ValueRead implements [store.Observer].
func (m *Metrics) ValueRead(kind, result string) { m.storageReads.WithLabelValues(kind, result).Inc() }

// CountNotification counts a message to a receiver of alerts. err is nil if the receiver accepted
// the message.
func (m *Metrics) CountNotification(err error) {
	m.notifications.WithLabelValues(resultLabel(err)).Inc()
}

func resultLabel(err error) string {
	if err != nil {
		return resultFailure
	}
	return resultSuccess
}

// OnComposed records how long it took to compose a robots.txt.
func (m *Metrics) OnComposed(took time.Duration) { m.composeDuration.Observe(took.Seconds()) }

// OnPageRequested counts a request for a robots.txt that robots_txt serves. cached reports whether
// the composed file was cached.
func (m *Metrics) OnPageRequested(cached bool) {
	if cached {
		m.composeHits.Inc()
	} else {
		m.composeMisses.Inc()
	}
}

// OnPageFailed counts a failure in one of the [stages] of composing a robots.txt.
func (m *Metrics) OnPageFailed(stage string) { m.composeErrors.WithLabelValues(stage).Inc() }

// OnChangeState counts that a change of a robots.txt got a new state.
func (m *Metrics) OnChangeState(_ string, c publish.Change) {
	m.changeStates.WithLabelValues(string(c.State)).Inc()
}

// OnHistoryFailed counts a failure to read or write the history of changes. A nil err is ignored.
func (m *Metrics) OnHistoryFailed(_ string, err error) {
	if err != nil {
		m.OnPageFailed(stageHistory)
	}
}

// unixSeconds converts a time to Unix seconds.
func unixSeconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

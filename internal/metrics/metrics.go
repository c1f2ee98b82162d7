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

// Metrics are the metrics of the module. All label values come from closed sets.
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
	verificationCounters seriesByIndex[prometheus.Counter] // by method and identity
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

// Results of an attempt.
const (
	resultSuccess = "success"
	resultFailure = "failure"
)

// stages are the steps of composing a robots.txt that can fail: reading the base or a list of
// rules, composing, the gate, and the history of changes.
var stages = []string{publish.StageBase, publish.StageRules, publish.StageCompose, publish.StageGate, stageHistory}

const stageHistory = "history"

// New returns the metrics. kinds are the kinds of stored values, and results the possible results
// of reading a value.
func New(state StateSource, kinds, results []string) *Metrics {
	b := builder{prometheus.NewRegistry()}
	m := &Metrics{
		registry: b.Registry, hosts: new(hosts), responseMetrics: newResponseMetrics(b), rateMetrics: newRateMetrics(b),

		handlers:          b.newGauge("handlers", "Handlers in the running configuration, by mode.", "mode"),
		fetches:           b.newCounter("fetches_total", "Fetches of a robots.txt, by source and result.", "source", "result"),
		fetchDuration:     b.newHistogram("fetch_duration_seconds", "How long reading a robots.txt took.", []float64{.001, .005, .01, .05, .1, .25, .5, 1, 2.5, 5, 10}, "source"),
		undecidedForwards: b.newCounter("undecided_total", "Requests to decide that were not answered, by reason.", "reason"),

		verifications:        b.newCounter("identity_checks_total", "Verifications of crawlers by method and result. 0 without verify.", "method", "identity"),
		verificationCounters: make(seriesByIndex[prometheus.Counter], int(verify.WebBotAuth+1)*int(verify.Spoofed+1)),
		signatures:           b.newCounter("signature_checks_total", "Checked signatures of crawler requests (Web Bot Auth), by result.", "reason"),
		directoryFetches:     b.newCounter("signature_directory_fetches_total", "Attempts to read the key directory of a signing agent, by whether it can be used.", "result"),

		storageWrites: b.newCounter("storage_writes_total", "Attempts to write a value to the storage.", "kind", "result"),
		storageReads:  b.newCounter("storage_reads_total", "Stored values of all instances that were read, by result.", "kind", "result"),
		lastWrite:     b.newGauge("storage_write_timestamp_seconds", "When a value was last written to the storage with success, 0 if never.").WithLabelValues(),
		notifications: b.newCounter("notifications_total", "Alert messages to the receivers of notify, by result of the last attempt.", "result"),

		composeErrors: b.newCounter("compose_errors_total", "Robots.txt files not composed or published, by failed step.", "stage"),
		changeStates:  b.newCounter("changes_total", "State changes of robots_txt changes by this instance, by new state.", "state"),
	}
	m.fileCollector = newFileCollector(b, m.hosts)
	registerRequests(b, m.hosts)
	registerState(b, state)
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

// createSeries creates series at zero, to make the first increase visible to queries.
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

// Register registers the metrics with the registry of a configuration, unless another
// handler did.
func (m *Metrics) Register(registry prometheus.Registerer) error {
	return register(registry, m.registry)
}

// RegisterWhileUsed registers the metrics with the registry of a configuration that may not use the
// metrics. Nothing is collected while isUsed returns false. A later Register has no further effect.
func (m *Metrics) RegisterWhileUsed(isUsed func() bool, registry prometheus.Registerer) error {
	return register(registry, conditionalCollector{m.registry, isUsed})
}

// register registers a collector unless already registered.
func register(registry prometheus.Registerer, c prometheus.Collector) error {
	if err := registry.Register(c); !errors.As(err, new(prometheus.AlreadyRegisteredError)) {
		return err
	}
	return nil
}

// conditionalCollector is a collector that collects only while isUsed returns true.
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

// CountHandler includes a handler in the gauge until the end of its configuration.
func (m *Metrics) CountHandler(ctx context.Context, mode string) {
	handlers := m.handlers.WithLabelValues(mode)
	handlers.Inc()
	context.AfterFunc(ctx, handlers.Dec)
}

// ObserveFetch records a fetch of a robots.txt by kind of source.
func (m *Metrics) ObserveFetch(source string, result policy.AccessResult, duration time.Duration) {
	m.fetches.WithLabelValues(source, result.String()).Inc()
	m.fetchDuration.WithLabelValues(source).Observe(duration.Seconds())
}

// CountCacheLookup records a lookup in the cache.
func (m *Metrics) CountCacheLookup(found bool) {
	if found {
		m.cacheHits.Inc()
	} else {
		m.cacheMisses.Inc()
	}
}

// CountShadowVerdict records a request by the difference between the two verdicts.
func (m *Metrics) CountShadowVerdict(d shadow.Difference) { m.shadowVerdicts[d].Inc() }

// CountUndecided records that another proxy's question for a verdict got no answer.
func (m *Metrics) CountUndecided(reason forward.Reason) {
	m.undecidedForwards.WithLabelValues(reason.String()).Inc()
}

// CountVerification records a verification by method and result.
func (m *Metrics) CountVerification(method verify.Method, identity verify.State) {
	m.verificationCounters.getOrCreate(int(method)*int(verify.Spoofed+1)+int(identity), func() prometheus.Counter {
		return m.verifications.WithLabelValues(method.String(), identity.String())
	}).Inc()
}

// CountSignatureCheck records the check of a signature.
func (m *Metrics) CountSignatureCheck(reason botauth.Reason) {
	m.signatures.WithLabelValues(reason.String()).Inc()
}

// CountDirectoryFetch records a fetch of a key directory.
func (m *Metrics) CountDirectoryFetch(result string) {
	m.directoryFetches.WithLabelValues(result).Inc()
}

// ValueWritten implements [store.Observer].
func (m *Metrics) ValueWritten(kind string, at time.Time, err error) {
	m.storageWrites.WithLabelValues(kind, resultLabel(err)).Inc()
	if err == nil {
		m.lastWrite.Set(timestamp(at))
	}
}

// ValueRead implements [store.Observer].
func (m *Metrics) ValueRead(kind, result string) { m.storageReads.WithLabelValues(kind, result).Inc() }

// CountNotification records a message to a receiver of alerts.
func (m *Metrics) CountNotification(err error) {
	m.notifications.WithLabelValues(resultLabel(err)).Inc()
}

func resultLabel(err error) string {
	if err != nil {
		return resultFailure
	}
	return resultSuccess
}

// OnComposed records the duration of composing a file of robots_txt.
func (m *Metrics) OnComposed(took time.Duration) { m.composeDuration.Observe(took.Seconds()) }

// OnPageRequested records a robots fetch at a robots_txt. cached reports whether the file was cached.
func (m *Metrics) OnPageRequested(cached bool) {
	if cached {
		m.composeHits.Inc()
	} else {
		m.composeMisses.Inc()
	}
}

// OnPageFailed records a failure in one of the [stages].
func (m *Metrics) OnPageFailed(stage string) { m.composeErrors.WithLabelValues(stage).Inc() }

// OnChangeState records the new state of a change.
func (m *Metrics) OnChangeState(_ string, c publish.Change) {
	m.changeStates.WithLabelValues(string(c.State)).Inc()
}

// OnHistoryFailed records a failure of the history.
func (m *Metrics) OnHistoryFailed(_ string, err error) {
	if err != nil {
		m.OnPageFailed(stageHistory)
	}
}

// timestamp returns a time in Unix seconds.
func timestamp(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

package metrics

import (
	"errors"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Metrics are the collectors of the module. All label values are taken from
// closed sets.
type Metrics struct {
	OperatorMetrics
	fileCollector
	fetches              *prometheus.CounterVec
	fetchDuration        *prometheus.HistogramVec
	cacheLookups         *prometheus.CounterVec
	cacheHits            prometheus.Counter // label of cacheLookups, like cacheMisses
	cacheMisses          prometheus.Counter
	cache                cacheCollector
	verifications        *prometheus.CounterVec
	notifications        *prometheus.CounterVec
	verificationCounters checkCounters
	identity             identityCollector
	SignatureCounters
	StorageMetrics
	ManagedMetrics
	ShadowMetrics
	RateMetrics
	ParityMetrics
	DecisionMetrics
}

// StateSource provides the values that collectors read.
type StateSource interface {
	// CacheStats returns the size of a segment of the policy cache.
	CacheStats(segment policy.Segment) policy.CacheStats
	// HostsWithHold returns the hosts with a change held back by the change guard.
	HostsWithHold() map[string]bool
	// NotProtecting returns the hosts in enforce whose robots.txt disallows nothing, with the
	// cause.
	NotProtecting() map[string]string
	// VerifierStats returns the counters of the verifier.
	VerifierStats() verify.Stats
	// AddressLists returns the lists of the verifier.
	AddressLists() []verify.ListStatus
	// Registry returns the state of the configured registry, or nil.
	Registry() *report.Registry
	// NextManagedChange returns the time of the next scheduled change of robots_txt, or zero.
	NextManagedChange() time.Time
	// WaitingChanges returns the number of changes that wait for confirmation.
	WaitingChanges() int
	// ParityFindings returns the numbers of verified crawlers whose responses contradict a
	// robots.txt.
	AuditFindings() map[AuditFinding]int
	// SigningKeys returns the numbers of usable keys by signing agent.
	SigningKeys() map[string]int
}

// New returns the collectors. kinds are the kinds of stored values, and results the possible
// results of reading one.
func New(state StateSource, kinds, results []string) *Metrics {
	const namespace, subsystem = "caddy", "robots_guard"
	metricName := func(s string) string { return prometheus.BuildFQName(namespace, subsystem, s) }
	hostMap := new(hosts)
	m := &Metrics{
		OperatorMetrics: newOperatorMetrics(metricName, hostMap),
		fileCollector:   newFileCollector(metricName, hostMap),
		fetches: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: metricName("fetches_total"),
			Help: "Fetches of a robots.txt, by source and result.",
		}, []string{"source", "result"}),
		fetchDuration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    metricName("fetch_duration_seconds"),
			Help:    "How long reading a robots.txt took.",
			Buckets: []float64{.001, .005, .01, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"source"}),
		cacheLookups: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: metricName("lookups_total"),
			Help: "Lookups in the policy cache, by whether a copy was cached.",
		}, []string{"result"}),
		verifications: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: metricName("identity_checks_total"),
			Help: "Verifications of crawlers by method and result. 0 without verify.",
		}, []string{"method", "identity"}),
		identity: newIdentityCollector(metricName, state),
		notifications: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: metricName("notifications_total"),
			Help: "Alert messages to the receivers of notify, by result of the last attempt.",
		}, []string{"result"}),

		SignatureCounters: newSignatureCounters(metricName),
		StorageMetrics:    newStorageMetrics(metricName, kinds, results),
		ManagedMetrics:    newManagedMetrics(metricName, state),
		ShadowMetrics:     newShadowMetrics(metricName),
		RateMetrics:       newRateMetrics(metricName),
		ParityMetrics:     newParityMetrics(metricName, state),
		DecisionMetrics:   newDecisionMetrics(metricName),
		cache: cacheCollector{
			state: state,
			heldChanges: prometheus.NewDesc(metricName("change_held"),
				"1 for a configured host while the change guard keeps an earlier robots.txt in force.", []string{"host"}, nil),
			unprotected: prometheus.NewDesc(metricName("not_protecting"),
				"1 for a configured host in enforce while its robots.txt disallows nothing, by cause.", []string{"host", "cause"}, nil),
			policies: prometheus.NewDesc(metricName("policies_cached"), "Sites with a cached robots.txt.", []string{"segment"}, nil),
			bytes:    prometheus.NewDesc(metricName("policies_bytes"), "Estimated memory of cached robots.txt files.", []string{"segment"}, nil),
			evicted:  prometheus.NewDesc(metricName("policies_evicted_total"), "Sites evicted from the cache.", []string{"segment"}, nil),
		},
	}
	m.cacheHits, m.cacheMisses = m.cacheLookups.WithLabelValues("hit"), m.cacheLookups.WithLabelValues("miss")
	m.notifications.WithLabelValues(resultSuccess)
	m.notifications.WithLabelValues(resultFailure)
	return m
}

// Register registers the collectors with the registry of a configuration, unless another
// handler did.
func (m *Metrics) Register(registry prometheus.Registerer) error {
	for _, c := range m.allCollectors() {
		if err := register(registry, c); err != nil {
			return err
		}
	}
	return nil
}

// register registers a collector unless it is registered.
func register(registry prometheus.Registerer, c prometheus.Collector) error {
	if err := registry.Register(c); !errors.As(err, new(prometheus.AlreadyRegisteredError)) {
		return err
	}
	return nil
}

// allCollectors returns the collectors.
func (m *Metrics) allCollectors() []prometheus.Collector {
	return append(append(m.storageCollectors(), slices.Concat(m.managedCollectors(), m.rateCollectors(), m.parityCollectors())...), m.requests, m.fileCollector, m.handlers, m.searchBlocks,
		m.fetches, m.fetchDuration, m.cacheLookups, m.cache, m.verifications, m.identity, m.signatures, m.directories, m.notifications, m.shadowRequests, m.undecided)
}

// CountNotification counts a message to a receiver of alerts.
func (m *Metrics) CountNotification(err error) {
	m.notifications.WithLabelValues(resultLabel(err)).Inc()
}

// ObserveFetch counts a fetch of a robots.txt by kind of source.
func (m *Metrics) ObserveFetch(source string, result policy.AccessResult, duration time.Duration) {
	m.fetches.WithLabelValues(source, result.String()).Inc()
	m.fetchDuration.WithLabelValues(source).Observe(duration.Seconds())
}

// CountCacheLookup counts a lookup in the cache.
func (m *Metrics) CountCacheLookup(found bool) {
	if found {
		m.cacheHits.Inc()
	} else {
		m.cacheMisses.Inc()
	}
}

// timestamp returns a time in Unix seconds.
func timestamp(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// cacheCollector collects the state of the cache and of the change guard.
type cacheCollector struct {
	state                                              StateSource
	policies, bytes, evicted, heldChanges, unprotected *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c cacheCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.policies
	ch <- c.bytes
	ch <- c.evicted
	ch <- c.heldChanges
	ch <- c.unprotected
}

// Collect implements prometheus.Collector.
func (c cacheCollector) Collect(ch chan<- prometheus.Metric) {
	for _, segment := range []policy.Segment{policy.ConfiguredHosts, policy.UnknownHosts} {
		stats, label := c.state.CacheStats(segment), segment.String()
		ch <- prometheus.MustNewConstMetric(c.policies, prometheus.GaugeValue, float64(stats.Entries), label)
		ch <- prometheus.MustNewConstMetric(c.bytes, prometheus.GaugeValue, float64(stats.Bytes), label)
		ch <- prometheus.MustNewConstMetric(c.evicted, prometheus.CounterValue, float64(stats.Evicted), label)
	}
	for host := range c.state.HostsWithHold() {
		ch <- prometheus.MustNewConstMetric(c.heldChanges, prometheus.GaugeValue, 1, host)
	}
	for host, cause := range c.state.NotProtecting() {
		ch <- prometheus.MustNewConstMetric(c.unprotected, prometheus.GaugeValue, 1, host, cause)
	}
}

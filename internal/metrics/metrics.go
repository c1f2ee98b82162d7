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
	fetches  *prometheus.CounterVec
	duration *prometheus.HistogramVec
	lookups  *prometheus.CounterVec
	hit      prometheus.Counter // lookups, as miss
	miss     prometheus.Counter
	cache    cacheCollector
	checks   *prometheus.CounterVec
	notified *prometheus.CounterVec
	checked  checkCounters
	identity identityCollector
	SignatureCounters
	StorageMetrics
	ManagedMetrics
	ShadowMetrics
	RateMetrics
	ParityMetrics
	DecisionMetrics
}

// Observed provides the values that collectors read.
type Observed interface {
	// CacheStats returns the size of a segment of the policy cache.
	CacheStats(segment policy.Segment) policy.CacheStats
	// HeldHosts returns the hosts with a change held back by the change guard.
	HeldHosts() map[string]bool
	// NotProtecting returns the hosts in enforce whose robots.txt disallows nothing, with the
	// cause.
	NotProtecting() map[string]string
	// VerifierStats returns the counters of the verifier.
	VerifierStats() verify.Stats
	// AddressLists returns the lists of the verifier.
	AddressLists() []verify.ListStatus
	// Registry returns the state of the configured registry, or nil.
	Registry() *report.Registry
	// NextText returns the time of the next scheduled change of robots_txt, or zero.
	NextText() time.Time
	// ChangesWaiting returns the number of changes that wait for confirmation.
	ChangesWaiting() int
	// ParityFindings returns the numbers of verified crawlers whose responses contradict a
	// robots.txt.
	ParityFindings() map[ParityFinding]int
	// SigningKeys returns the numbers of usable keys by signing agent.
	SigningKeys() map[string]int
}

// New returns the collectors. kinds are the kinds of stored values, and results the possible
// results of reading one.
func New(from Observed, kinds, results []string) *Metrics {
	const namespace, subsystem = "caddy", "robots_guard"
	name := func(s string) string { return prometheus.BuildFQName(namespace, subsystem, s) }
	known := new(hosts)
	m := &Metrics{
		OperatorMetrics: newOperatorMetrics(name, known),
		fileCollector:   newFileCollector(name, known),
		fetches: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("fetches_total"),
			Help: "Fetches of a robots.txt, by source and result.",
		}, []string{"source", "result"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    name("fetch_duration_seconds"),
			Help:    "How long reading a robots.txt took.",
			Buckets: []float64{.001, .005, .01, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"source"}),
		lookups: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("lookups_total"),
			Help: "Looks at the cache of policies, by whether a copy was there.",
		}, []string{"result"}),
		checks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("identity_checks_total"),
			Help: "Verifications of crawlers by method and result. 0 without verify.",
		}, []string{"method", "identity"}),
		identity: newIdentityCollector(name, from),
		notified: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("notifications_total"),
			Help: "Messages about alerts to the receivers of notify, by what came of them after the last attempt.",
		}, []string{"result"}),

		SignatureCounters: newSignatureCounters(name),
		StorageMetrics:    newStorageMetrics(name, kinds, results),
		ManagedMetrics:    newManagedMetrics(name, from),
		ShadowMetrics:     newShadowMetrics(name),
		RateMetrics:       newRateMetrics(name),
		ParityMetrics:     newParityMetrics(name, from),
		DecisionMetrics:   newDecisionMetrics(name),
		cache: cacheCollector{
			from: from,
			held: prometheus.NewDesc(name("change_held"),
				"1 for a configured host while the change guard keeps an earlier robots.txt in force.", []string{"host"}, nil),
			unprotected: prometheus.NewDesc(name("not_protecting"),
				"1 for a configured host in enforce while its robots.txt forbids nothing to anybody, by why it does not.", []string{"host", "cause"}, nil),
			policies: prometheus.NewDesc(name("policies_cached"), "Sites with a cached robots.txt.", []string{"segment"}, nil),
			bytes:    prometheus.NewDesc(name("policies_bytes"), "Estimated memory of cached robots.txt files.", []string{"segment"}, nil),
			evicted:  prometheus.NewDesc(name("policies_evicted_total"), "Sites evicted from the cache.", []string{"segment"}, nil),
		},
	}
	m.hit, m.miss = m.lookups.WithLabelValues("hit"), m.lookups.WithLabelValues("miss")
	m.notified.WithLabelValues(success)
	m.notified.WithLabelValues(failure)
	return m
}

// Register registers the collectors with the registry of a configuration, unless another
// handler did.
func (m *Metrics) Register(registry prometheus.Registerer) error {
	for _, c := range m.all() {
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

// all returns the collectors.
func (m *Metrics) all() []prometheus.Collector {
	return append(append(m.collectors(), slices.Concat(m.managedCollectors(), m.rateCollectors(), m.parityCollectors())...), m.requests, m.fileCollector, m.handlers, m.search,
		m.fetches, m.duration, m.lookups, m.cache, m.checks, m.identity, m.signatures, m.directories, m.notified, m.tried, m.undecided)
}

// Notified counts a message to a receiver of alerts.
func (m *Metrics) Notified(err error) { m.notified.WithLabelValues(resultOf(err)).Inc() }

// Fetched counts a fetch of a robots.txt by kind of source.
func (m *Metrics) Fetched(source string, result policy.Meaning, took time.Duration) {
	m.fetches.WithLabelValues(source, result.String()).Inc()
	m.duration.WithLabelValues(source).Observe(took.Seconds())
}

// LookedUp counts a lookup in the cache.
func (m *Metrics) LookedUp(found bool) {
	if found {
		m.hit.Inc()
	} else {
		m.miss.Inc()
	}
}

// timestamp returns a time in Unix seconds.
func timestamp(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// cacheCollector collects the state of the cache and of the change guard.
type cacheCollector struct {
	from                                        Observed
	policies, bytes, evicted, held, unprotected *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c cacheCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.policies
	ch <- c.bytes
	ch <- c.evicted
	ch <- c.held
	ch <- c.unprotected
}

// Collect implements prometheus.Collector.
func (c cacheCollector) Collect(ch chan<- prometheus.Metric) {
	for _, segment := range []policy.Segment{policy.Named, policy.Invented} {
		stats, label := c.from.CacheStats(segment), segment.String()
		ch <- prometheus.MustNewConstMetric(c.policies, prometheus.GaugeValue, float64(stats.Entries), label)
		ch <- prometheus.MustNewConstMetric(c.bytes, prometheus.GaugeValue, float64(stats.Bytes), label)
		ch <- prometheus.MustNewConstMetric(c.evicted, prometheus.CounterValue, float64(stats.Evicted), label)
	}
	for host := range c.from.HeldHosts() {
		ch <- prometheus.MustNewConstMetric(c.held, prometheus.GaugeValue, 1, host)
	}
	for host, cause := range c.from.NotProtecting() {
		ch <- prometheus.MustNewConstMetric(c.unprotected, prometheus.GaugeValue, 1, host, cause)
	}
}

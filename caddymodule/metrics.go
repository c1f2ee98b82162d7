package caddymodule

import (
	"errors"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// metrics are the collectors of the module. All label values are taken from
// closed sets.
type metrics struct {
	operatorMetrics
	fetches  *prometheus.CounterVec
	duration *prometheus.HistogramVec
	lookups  *prometheus.CounterVec
	hit      prometheus.Counter // of lookups, as is miss
	miss     prometheus.Counter
	findings *prometheus.GaugeVec
	read     *prometheus.GaugeVec
	changed  *prometheus.GaugeVec
	failing  *prometheus.GaugeVec
	cache    cacheCollector
	held     holdCollector
	checks   *prometheus.CounterVec
	checked  checkCounters
	identity identityCollector
	signatureCounters
	storageMetrics
}

// sharedMetrics makes the collectors once: they have to survive reloads and
// failed loads, each of which comes with a new registry.
var sharedMetrics = sync.OnceValue(newMetrics)

func newMetrics() *metrics {
	const namespace, subsystem = "caddy", "robots_guard"
	name := func(s string) string { return prometheus.BuildFQName(namespace, subsystem, s) }
	m := &metrics{
		operatorMetrics: newOperatorMetrics(name),
		fetches: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("fetches_total"),
			Help: "Attempts to read a robots.txt, by where it comes from and what the answer means.",
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
		read: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: name("read_timestamp_seconds"),
			Help: "When the robots.txt of a configured host was last read with success.",
		}, []string{"host"}),
		changed: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: name("changed_timestamp_seconds"),
			Help: "When the current text of the robots.txt of a configured host was first read.",
		}, []string{"host"}),
		failing: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: name("unreachable_since_timestamp_seconds"),
			Help: "Since when the robots.txt of a configured host cannot be read; absent while it can.",
		}, []string{"host"}),
		findings: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: name("findings"),
			Help: "What the parser noticed in the current robots.txt of a configured host.",
		}, []string{"host", "code"}),
		checks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("identity_checks_total"),
			Help: "Claims to be a crawler, by what decided about them and how. None are counted while claims are not verified.",
		}, []string{"method", "identity"}),
		identity: newIdentityCollector(name),

		signatureCounters: newSignatureCounters(name),
		storageMetrics:    newStorageMetrics(name),
		held: holdCollector{prometheus.NewDesc(name("change_held"),
			"1 for a configured host while the change guard keeps an earlier robots.txt in force.", []string{"host"}, nil)},
		cache: cacheCollector{
			policies: prometheus.NewDesc(name("policies_cached"), "Sites whose robots.txt is kept.", []string{"segment"}, nil),
			bytes:    prometheus.NewDesc(name("policies_bytes"), "Estimated memory of the policies kept.", []string{"segment"}, nil),
			evicted:  prometheus.NewDesc(name("policies_evicted_total"), "Sites dropped to keep within the bounds.", []string{"segment"}, nil),
		},
	}
	m.hit, m.miss = m.lookups.WithLabelValues("hit"), m.lookups.WithLabelValues("miss")
	return m
}

// registerMetrics registers the collectors with the registry of a
// configuration, which another handler may have done already.
func registerMetrics(ctx caddy.Context) (*metrics, error) {
	m := sharedMetrics()
	registry := ctx.GetMetricsRegistry()
	for _, c := range m.all() {
		if err := registry.Register(c); err != nil && !errors.As(err, new(prometheus.AlreadyRegisteredError)) {
			return nil, err
		}
	}
	return m, nil
}

// all returns the collectors.
func (m *metrics) all() []prometheus.Collector {
	return append(m.collectors(), m.requests, m.overflow, m.handlers, m.crawlers, m.root,
		m.fetches, m.duration, m.lookups, m.findings, m.read, m.changed, m.failing, m.cache, m.held, m.checks, m.identity, m.signatures, m.directories)
}

// fetched counts an attempt to read a robots.txt.
func (m *metrics) fetched(key policy.Key, result policy.Meaning, took time.Duration) {
	source := sourceLabel(key)
	m.fetches.WithLabelValues(source, result.String()).Inc()
	m.duration.WithLabelValues(source).Observe(took.Seconds())
}

// sourceLabel tells the kinds of source apart.
func sourceLabel(key policy.Key) string {
	switch {
	case key.Source == "":
		return "server"
	case isURL(key.Source):
		return "url"
	}
	return "file"
}

// lookedUp counts a look at the cache.
func (m *metrics) lookedUp(found bool) {
	if found {
		m.hit.Inc()
	} else {
		m.miss.Inc()
	}
}

// settled shows what is known of a host after an attempt to read its
// robots.txt.
func (m *metrics) settled(host string, s policy.Standing) {
	if s.Failures > 0 {
		m.failing.WithLabelValues(host).Set(timestamp(s.FailingSince))
		return
	}
	m.failing.DeleteLabelValues(host)
	m.read.WithLabelValues(host).Set(timestamp(s.Good.LastRead))
	m.changed.WithLabelValues(host).Set(timestamp(s.Good.FirstRead))
	m.judgedRoot(host, s.Good.Robots)
	counts := make(map[policy.Code]int)
	findings, _ := s.Good.Robots.Findings()
	for _, f := range findings {
		counts[f.Code]++
	}
	for _, code := range policy.Codes() {
		if n := counts[code]; n > 0 {
			m.findings.WithLabelValues(host, string(code)).Set(float64(n))
		} else {
			m.findings.DeleteLabelValues(host, string(code))
		}
	}
}

// timestamp is a time as Prometheus wants it.
func timestamp(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// cacheCollector reads the counts of the cache when they are asked for.
type cacheCollector struct{ policies, bytes, evicted *prometheus.Desc }

// Describe implements prometheus.Collector.
func (c cacheCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.policies
	ch <- c.bytes
	ch <- c.evicted
}

// Collect implements prometheus.Collector.
func (c cacheCollector) Collect(ch chan<- prometheus.Metric) {
	s := currentState.Load()
	if s == nil {
		return
	}
	for _, segment := range []policy.Segment{policy.Named, policy.Invented} {
		stats, label := s.cache.Stats(segment), segment.String()
		ch <- prometheus.MustNewConstMetric(c.policies, prometheus.GaugeValue, float64(stats.Entries), label)
		ch <- prometheus.MustNewConstMetric(c.bytes, prometheus.GaugeValue, float64(stats.Bytes), label)
		ch <- prometheus.MustNewConstMetric(c.evicted, prometheus.CounterValue, float64(stats.Evicted), label)
	}
}

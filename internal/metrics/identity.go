package metrics

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify/botauth"
)

// checkCounters are the counters of verifications by method and identity. They avoid the lock
// of a vector, which all requests would share.
type checkCounters [verify.WebBotAuth + 1][verify.Spoofed + 1]atomic.Pointer[prometheus.Counter]

// CheckedBy counts a verification by method and result.
func (m *Metrics) CheckedBy(method verify.Method, who verify.State) {
	known := &m.checked[method][who]
	counter := known.Load()
	if counter == nil {
		made := m.checks.WithLabelValues(method.String(), who.String())
		counter = &made
		known.Store(counter)
	}
	(*counter).Inc()
}

// SignatureCounters count checks of signatures by result, and fetches of key directories.
// Both sets of values are closed.
type SignatureCounters struct {
	signatures, directories *prometheus.CounterVec
}

func newSignatureCounters(name func(string) string) SignatureCounters {
	return SignatureCounters{
		signatures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("signature_checks_total"),
			Help: "Signatures of requests of crawlers (Web Bot Auth), by what came of checking them.",
		}, []string{"reason"}),
		directories: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("signature_directory_fetches_total"),
			Help: "Attempts to read the key directory of a signing agent, by whether it can be used.",
		}, []string{"result"}),
	}
}

// ReadDirectory counts a fetch of a key directory.
func (c *SignatureCounters) ReadDirectory(result string) {
	c.directories.WithLabelValues(result).Inc()
}

// Signed counts the check of a signature.
func (c *SignatureCounters) Signed(reason botauth.Reason) {
	c.signatures.WithLabelValues(reason.String()).Inc()
}

// identityCollector collects the counters of the verifier, its lists and the registry.
type identityCollector struct {
	from                      Observed
	lookups, running, waiting *prometheus.Desc
	prefixes, checked         *prometheus.Desc
	keys                      *prometheus.Desc

	entries, current *prometheus.Desc // of the registry
}

func newIdentityCollector(name func(string) string, from Observed) identityCollector {
	return identityCollector{
		from: from,
		lookups: prometheus.NewDesc(name("dns_lookups_total"),
			"DNS lookups of addresses of crawlers, by result.", []string{"result"}, nil),
		running: prometheus.NewDesc(name("dns_lookups_running"), "Look-ups of addresses under way.", nil, nil),
		waiting: prometheus.NewDesc(name("dns_lookups_waiting"), "Look-ups of addresses that wait for others.", nil, nil),
		prefixes: prometheus.NewDesc(name("address_list_prefixes"),
			"Prefixes in a list of crawler addresses; 0 if it was never read.", []string{"list"}, nil),
		checked: prometheus.NewDesc(name("address_list_checked_timestamp_seconds"),
			"When a list of crawler addresses was last known to be current.", []string{"list"}, nil),
		keys: prometheus.NewDesc(name("signature_directory_keys"),
			"Usable keys in the key directory of a signing agent; 0 if it was never read.", []string{"agent"}, nil),
		entries: prometheus.NewDesc(name("registry_entries"), "Entries of the registry that the configuration names; 0 if it was never read.", nil, nil),
		current: prometheus.NewDesc(name("registry_checked_timestamp_seconds"), "When the registry was last known to be current.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (c identityCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{c.lookups, c.running, c.waiting, c.prefixes, c.checked, c.keys, c.entries, c.current} {
		ch <- desc
	}
}

// Collect implements prometheus.Collector.
func (c identityCollector) Collect(ch chan<- prometheus.Metric) {
	c.collectRegistry(ch)
	for agent, n := range c.from.SigningKeys() {
		ch <- prometheus.MustNewConstMetric(c.keys, prometheus.GaugeValue, float64(n), agent)
	}
	stats := c.from.VerifierStats()
	for result, n := range map[string]uint64{
		"verified": stats.LookupsVerified, "failed": stats.LookupsFailed, "unknown": stats.LookupsUnknown, "dropped": stats.Dropped,
	} {
		ch <- prometheus.MustNewConstMetric(c.lookups, prometheus.CounterValue, float64(n), result)
	}
	ch <- prometheus.MustNewConstMetric(c.running, prometheus.GaugeValue, float64(stats.Running))
	ch <- prometheus.MustNewConstMetric(c.waiting, prometheus.GaugeValue, float64(stats.Waiting))
	for _, list := range c.from.AddressLists() {
		ch <- prometheus.MustNewConstMetric(c.prefixes, prometheus.GaugeValue, float64(list.Prefixes), list.Source)
		if !list.Checked.IsZero() {
			ch <- prometheus.MustNewConstMetric(c.checked, prometheus.GaugeValue, timestamp(list.Checked), list.Source)
		}
	}
}

// collectRegistry collects the state of the configured registry, if any.
func (c identityCollector) collectRegistry(ch chan<- prometheus.Metric) {
	r := c.from.Registry()
	if r == nil {
		return
	}
	entries := 0
	if r.InUse != nil {
		entries = r.InUse.Crawlers
	}
	ch <- prometheus.MustNewConstMetric(c.entries, prometheus.GaugeValue, float64(entries))
	if !r.Checked.IsZero() {
		ch <- prometheus.MustNewConstMetric(c.current, prometheus.GaugeValue, timestamp(r.Checked))
	}
}

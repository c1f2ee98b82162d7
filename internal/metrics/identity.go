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

// CountVerification counts a verification by method and result.
func (m *Metrics) CountVerification(method verify.Method, identity verify.State) {
	slot := &m.verificationCounters[method][identity]
	counter := slot.Load()
	if counter == nil {
		created := m.verifications.WithLabelValues(method.String(), identity.String())
		counter = &created
		slot.Store(counter)
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
			Help: "Checked signatures of crawler requests (Web Bot Auth), by result.",
		}, []string{"reason"}),
		directories: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name("signature_directory_fetches_total"),
			Help: "Attempts to read the key directory of a signing agent, by whether it can be used.",
		}, []string{"result"}),
	}
}

// CountDirectoryFetch counts a fetch of a key directory.
func (c *SignatureCounters) CountDirectoryFetch(result string) {
	c.directories.WithLabelValues(result).Inc()
}

// CountSignatureCheck counts the check of a signature.
func (c *SignatureCounters) CountSignatureCheck(reason botauth.Reason) {
	c.signatures.WithLabelValues(reason.String()).Inc()
}

// identityCollector collects the counters of the verifier, its lists and the registry.
type identityCollector struct {
	state                                   StateSource
	lookups, lookupsRunning, lookupsWaiting *prometheus.Desc
	listPrefixes, listChecked               *prometheus.Desc
	directoryKeys                           *prometheus.Desc

	registryEntries, registryChecked *prometheus.Desc // of the registry
}

func newIdentityCollector(name func(string) string, state StateSource) identityCollector {
	return identityCollector{
		state: state,
		lookups: prometheus.NewDesc(name("dns_lookups_total"),
			"DNS lookups of addresses of crawlers, by result.", []string{"result"}, nil),
		lookupsRunning: prometheus.NewDesc(name("dns_lookups_running"), "Look-ups of addresses under way.", nil, nil),
		lookupsWaiting: prometheus.NewDesc(name("dns_lookups_waiting"), "Look-ups of addresses that wait for others.", nil, nil),
		listPrefixes: prometheus.NewDesc(name("address_list_prefixes"),
			"Prefixes in a list of crawler addresses; 0 if it was never read.", []string{"list"}, nil),
		listChecked: prometheus.NewDesc(name("address_list_checked_timestamp_seconds"),
			"When a list of crawler addresses was last known to be current.", []string{"list"}, nil),
		directoryKeys: prometheus.NewDesc(name("signature_directory_keys"),
			"Usable keys in the key directory of a signing agent; 0 if it was never read.", []string{"agent"}, nil),
		registryEntries: prometheus.NewDesc(name("registry_entries"), "Entries of the registry that the configuration names; 0 if it was never read.", nil, nil),
		registryChecked: prometheus.NewDesc(name("registry_checked_timestamp_seconds"), "When the registry was last known to be current.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (c identityCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{c.lookups, c.lookupsRunning, c.lookupsWaiting, c.listPrefixes, c.listChecked, c.directoryKeys, c.registryEntries, c.registryChecked} {
		ch <- desc
	}
}

// Collect implements prometheus.Collector.
func (c identityCollector) Collect(ch chan<- prometheus.Metric) {
	c.collectRegistry(ch)
	for agent, n := range c.state.SigningKeys() {
		ch <- prometheus.MustNewConstMetric(c.directoryKeys, prometheus.GaugeValue, float64(n), agent)
	}
	stats := c.state.VerifierStats()
	for result, n := range map[string]uint64{
		"verified": stats.LookupsVerified, "failed": stats.LookupsFailed, "unknown": stats.LookupsUnknown, "dropped": stats.Dropped,
	} {
		ch <- prometheus.MustNewConstMetric(c.lookups, prometheus.CounterValue, float64(n), result)
	}
	ch <- prometheus.MustNewConstMetric(c.lookupsRunning, prometheus.GaugeValue, float64(stats.Running))
	ch <- prometheus.MustNewConstMetric(c.lookupsWaiting, prometheus.GaugeValue, float64(stats.Waiting))
	for _, list := range c.state.AddressLists() {
		ch <- prometheus.MustNewConstMetric(c.listPrefixes, prometheus.GaugeValue, float64(list.Prefixes), list.Source)
		if !list.Checked.IsZero() {
			ch <- prometheus.MustNewConstMetric(c.listChecked, prometheus.GaugeValue, timestamp(list.Checked), list.Source)
		}
	}
}

// collectRegistry collects the state of the configured registry, if any.
func (c identityCollector) collectRegistry(ch chan<- prometheus.Metric) {
	r := c.state.Registry()
	if r == nil {
		return
	}
	entries := 0
	if r.InUse != nil {
		entries = r.InUse.Crawlers
	}
	ch <- prometheus.MustNewConstMetric(c.registryEntries, prometheus.GaugeValue, float64(entries))
	if !r.Checked.IsZero() {
		ch <- prometheus.MustNewConstMetric(c.registryChecked, prometheus.GaugeValue, timestamp(r.Checked))
	}
}

package metrics

import (
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// StateSource provides the values that the metrics read at each scrape.
type StateSource interface {
	// CacheStats returns the size of one segment of the cache of robots.txt files.
	CacheStats(segment policy.Segment) policy.CacheStats
	// HostsWithHold returns the hosts for which the change guard keeps an earlier robots.txt in
	// force.
	HostsWithHold() map[string]bool
	// NotProtecting returns the hosts in the mode enforce whose robots.txt disallows nothing, with
	// the cause.
	NotProtecting() map[string]string
	// BlockedSearchEngines returns the search engines that a rule for other crawlers recently
	// blocked, with the time of the last block.
	BlockedSearchEngines() map[alert.BlockedSearchEngine]time.Time
	// VerifierStats returns the numbers of DNS look-ups for the verification of crawlers.
	VerifierStats() verify.Stats
	// AddressLists returns the states of the address lists by which crawlers are verified.
	AddressLists() []verify.ListStatus
	// Registry returns the state of the registry file or URL in the configuration, or nil without
	// one.
	Registry() *report.RegistryStatus
	// NextManagedChange returns the time of the next scheduled change of a robots.txt that
	// robots_txt serves, or zero.
	NextManagedChange() time.Time
	// WaitingChanges returns the number of changes of robots_txt that wait for confirmation.
	WaitingChanges() int
	// AuditFindings returns the number of crawlers for each contradiction between a robots.txt and
	// the responses.
	AuditFindings() map[AuditFinding]int
	// SigningKeys returns the number of usable keys of each signing agent.
	SigningKeys() map[string]int
}

// AuditFinding is a kind of contradiction between the robots.txt of a host and its responses to
// crawlers.
type AuditFinding struct {
	Host string
	Kind responseaudit.FindingKind
}

// registerStateMetrics registers the metrics that are read from a StateSource.
func registerStateMetrics(b metricBuilder, state StateSource) {
	policies := b.newDesc("policies_cached", "Sites with a cached robots.txt.", "segment")
	bytes := b.newDesc("policies_bytes", "Estimated memory of cached robots.txt files.", "segment")
	evicted := b.newDesc("policies_evicted_total", "Sites evicted from the cache.", "segment")
	b.registerCollector(func(m metricSink) {
		for _, segment := range []policy.Segment{policy.ConfiguredHosts, policy.UnknownHosts} {
			stats, label := state.CacheStats(segment), segment.String()
			m.sendGauge(policies, float64(stats.Entries), label)
			m.sendGauge(bytes, float64(stats.Bytes), label)
			m.sendCounter(evicted, stats.Evicted, label)
		}
	}, policies, bytes, evicted)

	held := b.newDesc("change_held", "1 for a configured host while the change guard keeps an earlier robots.txt in force.", "host")
	unprotected := b.newDesc("not_protecting", "1 for a configured host in enforce while its robots.txt disallows nothing, by cause.", "host", "cause")
	searchBlocked := b.newDesc("search_blocked_timestamp_seconds", "Time of the last block of a search engine by a rule that does not name it; absent without a recent one.", "host", "crawler", "identity")
	findings := b.newDesc("parity_findings", "Crawlers whose responses contradict the robots.txt, by host and finding; absent if there are none.", "host", "finding")
	b.registerCollector(func(m metricSink) {
		for host := range state.HostsWithHold() {
			m.sendGauge(held, 1, host)
		}
		for host, cause := range state.NotProtecting() {
			m.sendGauge(unprotected, 1, host, cause)
		}
		for block, last := range state.BlockedSearchEngines() {
			m.sendGauge(searchBlocked, unixSeconds(last), block.Site, block.Crawler, block.Identity.String())
		}
		for finding, count := range state.AuditFindings() {
			m.sendGauge(findings, float64(count), finding.Host, string(finding.Kind))
		}
	}, held, unprotected, searchBlocked, findings)

	waiting := b.newDesc("changes_waiting", "Changes of robots_txt waiting for confirmation.")
	next := b.newDesc("next_text_timestamp_seconds", "Time of the next scheduled change of a robots.txt of robots_txt; 0 for none.")
	b.registerCollector(func(m metricSink) {
		m.sendGauge(waiting, float64(state.WaitingChanges()))
		at := 0.0
		if change := state.NextManagedChange(); !change.IsZero() {
			at = unixSeconds(change)
		}
		m.sendGauge(next, at)
	}, waiting, next)
	registerIdentityMetrics(b, state)
}

// registerIdentityMetrics registers the metrics about DNS look-ups, address lists, signing keys and
// the registry.
func registerIdentityMetrics(b metricBuilder, state StateSource) {
	lookups := b.newDesc("dns_lookups_total", "DNS lookups of addresses of crawlers, by result.", "result")
	running := b.newDesc("dns_lookups_running", "DNS lookups in progress.")
	waiting := b.newDesc("dns_lookups_waiting", "DNS lookups that wait to start.")
	b.registerCollector(func(m metricSink) {
		stats := state.VerifierStats()
		m.sendCounter(lookups, stats.LookupsVerified, "verified")
		m.sendCounter(lookups, stats.LookupsFailed, "failed")
		m.sendCounter(lookups, stats.LookupsUnknown, "unknown")
		m.sendCounter(lookups, stats.LookupsDropped, "dropped")
		m.sendGauge(running, float64(stats.Running))
		m.sendGauge(waiting, float64(stats.Waiting))
	}, lookups, running, waiting)

	prefixes := b.newDesc("address_list_prefixes", "Prefixes in a list of crawler addresses; 0 if the list was never read.", "list")
	checked := b.newDesc("address_list_checked_timestamp_seconds", "Time at which a list of crawler addresses was last known to be current.", "list")
	keys := b.newDesc("signature_directory_keys", "Usable keys in the key directory of a signing agent; 0 if the directory was never read.", "agent")
	b.registerCollector(func(m metricSink) {
		for _, list := range state.AddressLists() {
			m.sendGauge(prefixes, float64(list.Prefixes), list.Source)
			if !list.CheckedAt.IsZero() {
				m.sendGauge(checked, unixSeconds(list.CheckedAt), list.Source)
			}
		}
		for agent, n := range state.SigningKeys() {
			m.sendGauge(keys, float64(n), agent)
		}
	}, prefixes, checked, keys)

	entries := b.newDesc("registry_entries", "Entries of the registry file or URL in the configuration; 0 if it was never read.")
	registryChecked := b.newDesc("registry_checked_timestamp_seconds", "Time at which the registry was last known to be current.")
	b.registerCollector(func(m metricSink) {
		r := state.Registry()
		if r == nil {
			return
		}
		n := 0
		if r.InUse != nil {
			n = r.InUse.Crawlers
		}
		m.sendGauge(entries, float64(n))
		if !r.ConfirmedAt.IsZero() {
			m.sendGauge(registryChecked, unixSeconds(r.ConfirmedAt))
		}
	}, entries, registryChecked)
}

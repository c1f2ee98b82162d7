package metrics

import (
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// StateSource provides the values for each collection of the metrics.
type StateSource interface {
	// CacheStats returns the size of a segment of the policy cache.
	CacheStats(segment policy.Segment) policy.CacheStats
	// HostsWithHold returns the hosts with a change delayed by the change guard.
	HostsWithHold() map[string]bool
	// NotProtecting returns the hosts in enforce whose robots.txt disallows nothing, with the
	// cause.
	NotProtecting() map[string]string
	// BlockedSearchEngines returns the time of the last block of each search engine recently blocked by a
	// rule for other crawlers.
	BlockedSearchEngines() map[alert.BlockedSearchEngine]time.Time
	// VerifierStats returns the counters of the verifier.
	VerifierStats() verify.Stats
	// AddressLists returns the lists of the verifier.
	AddressLists() []verify.ListStatus
	// Registry returns the state of the configured registry, or nil.
	Registry() *report.Registry
	// NextManagedChange returns the time of the next scheduled change of robots_txt, or zero.
	NextManagedChange() time.Time
	// WaitingChanges returns the number of unconfirmed changes.
	WaitingChanges() int
	// AuditFindings returns the numbers of crawlers whose responses contradict a
	// robots.txt.
	AuditFindings() map[AuditFinding]int
	// SigningKeys returns the numbers of usable keys by signing agent.
	SigningKeys() map[string]int
}

// AuditFinding is a contradiction between the robots.txt of a host and its responses to crawlers.
type AuditFinding struct {
	Host string
	What responseaudit.FindingKind
}

// registerState registers the metrics of the state.
func registerState(b builder, state StateSource) {
	policies := b.desc("policies_cached", "Sites with a cached robots.txt.", "segment")
	bytes := b.desc("policies_bytes", "Estimated memory of cached robots.txt files.", "segment")
	evicted := b.desc("policies_evicted_total", "Sites evicted from the cache.", "segment")
	b.collect(func(m metrics) {
		for _, segment := range []policy.Segment{policy.ConfiguredHosts, policy.UnknownHosts} {
			stats, label := state.CacheStats(segment), segment.String()
			m.gauge(policies, float64(stats.Entries), label)
			m.gauge(bytes, float64(stats.Bytes), label)
			m.counter(evicted, stats.Evicted, label)
		}
	}, policies, bytes, evicted)

	held := b.desc("change_held", "1 for a configured host while the change guard keeps an earlier robots.txt in force.", "host")
	unprotected := b.desc("not_protecting", "1 for a configured host in enforce while its robots.txt disallows nothing, by cause.", "host", "cause")
	searchBlocked := b.desc("search_blocked_timestamp_seconds", "When a search engine was last blocked by a rule that does not name it; absent if none was recently.", "host", "crawler", "identity")
	findings := b.desc("parity_findings", "Crawlers with a finding about responses, by host and finding; absent if none.", "host", "finding")
	b.collect(func(m metrics) {
		for host := range state.HostsWithHold() {
			m.gauge(held, 1, host)
		}
		for host, cause := range state.NotProtecting() {
			m.gauge(unprotected, 1, host, cause)
		}
		for block, last := range state.BlockedSearchEngines() {
			m.gauge(searchBlocked, timestamp(last), block.Site, block.Crawler, block.Identity.String())
		}
		for finding, count := range state.AuditFindings() {
			m.gauge(findings, float64(count), finding.Host, string(finding.What))
		}
	}, held, unprotected, searchBlocked, findings)

	waiting := b.desc("changes_waiting", "Changes of robots_txt waiting for confirmation.")
	next := b.desc("next_text_timestamp_seconds", "Time of the next scheduled file of a robots_txt, 0 for none.")
	b.collect(func(m metrics) {
		m.gauge(waiting, float64(state.WaitingChanges()))
		at := 0.0
		if change := state.NextManagedChange(); !change.IsZero() {
			at = timestamp(change)
		}
		m.gauge(next, at)
	}, waiting, next)
	registerIdentity(b, state)
}

// registerIdentity registers the metrics of the verifier, its lists and the registry.
func registerIdentity(b builder, state StateSource) {
	lookups := b.desc("dns_lookups_total", "DNS lookups of addresses of crawlers, by result.", "result")
	running := b.desc("dns_lookups_running", "Look-ups of addresses under way.")
	waiting := b.desc("dns_lookups_waiting", "Waiting look-ups of addresses.")
	b.collect(func(m metrics) {
		stats := state.VerifierStats()
		m.counter(lookups, stats.LookupsVerified, "verified")
		m.counter(lookups, stats.LookupsFailed, "failed")
		m.counter(lookups, stats.LookupsUnknown, "unknown")
		m.counter(lookups, stats.Dropped, "dropped")
		m.gauge(running, float64(stats.Running))
		m.gauge(waiting, float64(stats.Waiting))
	}, lookups, running, waiting)

	prefixes := b.desc("address_list_prefixes", "Prefixes in a list of crawler addresses; 0 if it was never read.", "list")
	checked := b.desc("address_list_checked_timestamp_seconds", "When a list of crawler addresses was last known to be current.", "list")
	keys := b.desc("signature_directory_keys", "Usable keys in the key directory of a signing agent; 0 if it was never read.", "agent")
	b.collect(func(m metrics) {
		for _, list := range state.AddressLists() {
			m.gauge(prefixes, float64(list.Prefixes), list.Source)
			if !list.Checked.IsZero() {
				m.gauge(checked, timestamp(list.Checked), list.Source)
			}
		}
		for agent, n := range state.SigningKeys() {
			m.gauge(keys, float64(n), agent)
		}
	}, prefixes, checked, keys)

	entries := b.desc("registry_entries", "Entries of the registry that the configuration names; 0 if it was never read.")
	registryChecked := b.desc("registry_checked_timestamp_seconds", "When the registry was last known to be current.")
	b.collect(func(m metrics) {
		r := state.Registry()
		if r == nil {
			return
		}
		n := 0
		if r.InUse != nil {
			n = r.InUse.Crawlers
		}
		m.gauge(entries, float64(n))
		if !r.Checked.IsZero() {
			m.gauge(registryChecked, timestamp(r.Checked))
		}
	}, entries, registryChecked)
}

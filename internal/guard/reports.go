package guard

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/copies"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/metrics"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// SiteStates returns the current state of each site that had a judged request, by label.
func (s *State) SiteStates() map[string]report.SiteState {
	sites, takesEffect := make(map[string]report.SiteState), s.EffectiveTimes()
	for label, r := range s.siteRecords.recordsWithCurrentMode() {
		key, live := r.key, report.SiteState{Mode: r.mode, Enforces: isEnforceMode(r.mode)}
		if key != (policy.Key{}) {
			live.Authority, live.Source = key.String(), key.SourceKind()
			if e := s.Cache.Get(key); e != nil {
				live.State = e.State()
			}
			live.HeldUntil, live.TakesEffect = s.changeGuard.LastHoldEnd(key), takesEffect(key)
		}
		sites[label] = live
	}
	return sites
}

// ManagedSource returns the running robots_txt handlers.
func (s *State) ManagedSource() report.ManagedFiles { return &s.ManagedPublishers }

// ManagedChanges returns the changes of managed robots.txt files by site.
func (s *State) ManagedChanges() map[string][]report.ManagedChange { return s.SiteHistories.Report() }

// WaitingChanges returns the number of robots_txt changes waiting for confirmation.
func (s *State) WaitingChanges() (n int) {
	for _, changes := range s.ManagedChanges() {
		if slices.ContainsFunc(changes, func(c report.ManagedChange) bool { return c.State == report.ChangeWaiting }) {
			n++
		}
	}
	return n
}

// NextManagedChange returns the time of the next scheduled change of a managed robots.txt, or the
// zero time.
func (s *State) NextManagedChange() time.Time { return s.ManagedPublishers.NextChange(time.Now()) }

// AlertManager returns the manager of the alerts, or nil for a nil State.
func (s *State) AlertManager() *alert.Manager {
	if s == nil {
		return nil
	}
	return s.Alerts
}

// StorageFailure returns the start and the cause of the current storage failure. The time is zero
// without a failure or without a storage.
func (s *State) StorageFailure() (since time.Time, err error) { return s.Memory.WriteFailure() }

// AuditFindings returns the number of open alerts of the response audit, with at least the severity
// warning, by site and kind of finding.
func (s *State) AuditFindings() map[metrics.AuditFinding]int {
	found := make(map[metrics.AuditFinding]int)
	for _, a := range s.Alerts.List().Alerts {
		if what := responseaudit.FindingKind(a.Kind); slices.Contains(responseaudit.FindingKinds(), what) && a.State != alert.Over && a.Severity.AtLeast(alert.Warning) {
			found[metrics.AuditFinding{Host: a.Site, Kind: what}]++
		}
	}
	return found
}

// BlockedSearchEngines returns the time of the last block of each recently blocked search engine.
func (s *State) BlockedSearchEngines() map[alert.BlockedSearchEngine]time.Time {
	return s.Alerts.BlockedSearchEngines()
}

// HasStorage reports whether data survive a restart.
func (s *State) HasStorage() bool { return s.Memory.HasRunningStore() }

// Interface guard
var _ alert.StateSource = (*State)(nil)

// CrawlersWithFetchSince returns the names of the crawlers that have fetched robots.txt since a time,
// from this or other instances, at any host for which includesHost reports true. Spoofed clients are
// omitted.
func (s *State) CrawlersWithFetchSince(includesHost func(host string) bool, since time.Time) []string {
	found := make(map[string]bool)
	for _, l := range []*ledger.Ledger{s.Ledger, s.Memory.PeerLedger()} {
		if l == nil {
			continue
		}
		for _, site := range l.Snapshot().Sites {
			if !includesHost(site.Name) {
				continue
			}
			for _, row := range site.Rows {
				if row.RobotsFetch != nil && row.RobotsFetch.At >= since.UnixMilli() && row.Identity != verify.Spoofed && !strings.HasPrefix(row.Token, "_") {
					found[row.Token] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// EffectiveTimes returns a function that returns when the current robots.txt of a key applies to
// all crawlers, because the grace of previous versions ends. The zero time means that it already
// does. The function uses the state at the time of the call, so that one function serves many keys.
func (s *State) EffectiveTimes() func(policy.Key) time.Time {
	pending := s.Copies.PendingEffectiveTimes(time.Now())
	return func(key policy.Key) (at time.Time) {
		isOfSite := newHostMatcher(key)
		for host, t := range pending {
			if isOfSite(host) && t.After(at) {
				at = t
			}
		}
		return at
	}
}

// EndGrace ends the grace of previous versions of a site's robots.txt for all crawlers. From now
// on, crawlers that still obey a previous version can be blocked.
func (s *State) EndGrace(key policy.Key) { s.Copies.EndGrace(newHostMatcher(key), time.Now()) }

// newHostMatcher returns a function that reports whether the recorded files of a host belong to the
// site with a key. A key without a port matches any port.
func newHostMatcher(key policy.Key) func(copies.Host) bool {
	name, port := addr.SplitPort(key.Host)
	number := site.ParsePort(port)
	return func(h copies.Host) bool {
		if key.Source != "" {
			return h.Source == key.Source && h.ForwardedHost == key.ForwardedHost
		}
		return h.Source == "" && h.Secure == key.IsHTTPS && h.Name == name && h.ForwardedHost == key.ForwardedHost && (number == 0 || h.Port == number)
	}
}

// Reports returns the data for reports at a time. For a nil State, the data are empty.
func (s *State) Reports(now time.Time) *report.Source {
	source := &report.Source{Now: now, SiteStates: make(map[string]report.SiteState)}
	if s == nil {
		return source
	}
	source.ManagedFiles = &s.ManagedPublishers
	source.Ledger = s.Ledger.Snapshot()
	if others := s.Memory.PeerLedger(); others != nil {
		source.Ledger = ledger.Merge(source.Ledger, others.Snapshot())
	}
	seen := make(map[string]bool)
	for _, site := range source.Ledger.Sites {
		seen[site.Name] = true
	}
	source.Registry = s.currentRegistry()
	source.Withheld = s.withheldResponses.Find("", now)
	source.LintCache = s.lintCache
	s.trials.addToReport(source)
	if history := s.history.Load(); history != nil {
		source.History = *history
	}
	for label, live := range s.SiteStates() {
		if live.Mode != "" || seen[label] {
			source.SiteStates[label] = live
		}
	}
	for label := range seen { // These sites had no request since the start.
		if live := source.SiteStates[label]; live.Mode == "" {
			if live.Mode = s.siteRecords.configuredModes()[label]; live.Mode != "" {
				source.SiteStates[label] = live
			}
		}
	}
	return source
}

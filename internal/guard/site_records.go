package guard

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/cowmap"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// ConfiguredSites has the sites of a configuration, by label.
type ConfiguredSites struct {
	// IsConfigured reports whether the configuration names a host; nil for no configuration.
	IsConfigured func(label string) bool
	// Modes are monitor, enforce or [ledger.ModeMixed] for the sites with a guard.
	Modes map[string]string
	// WithChangeGuard has the sites with a guard with [Config.ChangeGuardTime].
	WithChangeGuard map[string]bool
}

// siteRecords has a record of each site with a judgement. The configured hosts bound its size, see
// [State.UseSettings]. The zero value is empty.
type siteRecords struct {
	mu         sync.Mutex                           // locked during changes of records
	records    cowmap.LargeMap[string, *siteRecord] // by label
	configured atomic.Pointer[ConfiguredSites]      // of the last configuration; nil without a configuration
}

// siteRecord is an immutable record of a site.
type siteRecord struct {
	guardNumber int64                         // number of the latest guard with a judgement at the site
	key         policy.Key                    // of its robots.txt; the zero Key if clients choose the key
	mode        string                        // at the last change of the record
	loggedCause report.ProtectionProblemCause // why the robots.txt restricts no crawler, as logged; "" for a site with rules
}

// recordSite records that the guard serves the site of a judgement.
func (g *Guard) recordSite(j *Judgement) {
	if g.firstJudgedLabel.Load() == nil {
		g.firstJudgedLabel.CompareAndSwap(nil, &j.Site.Label)
	}
	if mode, changed := g.state.siteRecords.recordSite(j.Site, g.serialNumber, judge.ModeWord(g.Settings.Enforce)); changed {
		g.state.Ledger.RecordModeChange(j.Site.Label, mode, time.Now())
		g.logProtectionChanges(j.Site.Key)
	}
}

// recordSite records a site of a guard. It returns the mode of the site, and whether the record has changed.
// guardMode is the mode of a site that the configuration does not list. recordSite takes no lock
// without a change.
func (s *siteRecords) recordSite(of *site.Site, guard int64, guardMode string) (mode string, changed bool) {
	known := s.loadRecord(of.Label)
	if next := s.updatedRecord(known, of, guard, guardMode); next == known {
		return next.mode, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.updatedRecord(s.loadRecord(of.Label), of, guard, guardMode)
	s.records.Store(of.Label, &next)
	return next.mode, true
}

// loadRecord returns the record of a site, or the zero siteRecord.
func (s *siteRecords) loadRecord(label string) siteRecord {
	if r, _ := s.records.Load(label); r != nil {
		return *r
	}
	return siteRecord{}
}

// updatedRecord returns the record after a judgement at a site. Several guards may serve one site, and guards
// of the previous configuration may still serve. The latest guard determines the record.
func (s *siteRecords) updatedRecord(r siteRecord, of *site.Site, guard int64, guardMode string) siteRecord {
	switch {
	case guard > r.guardNumber:
		r.guardNumber, r.mode = guard, guardMode
		if of.CacheSegment != policy.UnknownHosts && of.Key.Source != r.key.Source || isBetterKey(of, r.key) {
			r.key = of.Key
		}
	case of.Key.Source == r.key.Source && isBetterKey(of, r.key):
		r.key = of.Key
	}
	r.mode = s.currentMode(of.Label, r.mode)
	if !isEnforceMode(r.mode) {
		r.loggedCause = "" // monitor blocks nothing
	}
	return r
}

// isBetterKey reports whether the key of a site is better than the known key of the same source.
// Clients choose ports, and http or https.
func isBetterKey(s *site.Site, known policy.Key) bool {
	switch {
	case s.CacheSegment == policy.UnknownHosts, s.Key == known:
		return false
	case known == policy.Key{}:
		return true
	case (s.Key.Host == s.Label) != (known.Host == s.Label):
		return s.Key.Host == s.Label
	}
	return s.Key.Host == known.Host && s.Key.Secure && !known.Secure
}

// isEnforceMode reports whether a guard enforces at a site in a mode.
func isEnforceMode(mode string) bool { return mode == judge.ModeWord(true) || mode == ledger.ModeMixed }

// currentMode returns the mode of a site in the configuration, or recorded for a site that the
// configuration does not list.
func (s *siteRecords) currentMode(label, recorded string) string {
	return cmp.Or(s.configuredModes()[label], recorded)
}

// configuredModes returns the mode of each configured site with a guard.
func (s *siteRecords) configuredModes() map[string]string {
	if configured := s.configured.Load(); configured != nil {
		return configured.Modes
	}
	return nil
}

// isChangeGuardOff reports whether no guard of the configuration has the change guard on at a site. It
// returns false without a configuration.
func (s *siteRecords) isChangeGuardOff(label string) bool {
	configured := s.configured.Load()
	return configured != nil && configured.IsConfigured != nil && !configured.WithChangeGuard[label]
}

// allWithCurrentMode yields the label, the key and the current mode of each site.
func (s *siteRecords) allWithCurrentMode() iter.Seq2[string, siteRecord] {
	return func(yield func(string, siteRecord) bool) {
		for label, r := range s.records.All() {
			current := *r
			current.mode = s.currentMode(label, r.mode)
			if !yield(label, current) {
				return
			}
		}
	}
}

// recordsWithKey yields the sites whose robots.txt has a key.
func (s *siteRecords) recordsWithKey(key policy.Key) iter.Seq2[string, siteRecord] {
	return func(yield func(string, siteRecord) bool) {
		if key.Source == "" { // at most one site, found without a search
			label := site.NewSite(key).Label
			if r := s.loadRecord(label); r.key == key {
				r.mode = s.currentMode(label, r.mode)
				yield(label, r)
			}
			return
		}
		for label, r := range s.allWithCurrentMode() {
			if r.key == key && !yield(label, r) {
				return
			}
		}
	}
}

// removeUnconfigured drops the data of all sites outside the configuration.
func (s *State) removeUnconfigured() {
	configured := s.siteRecords.configured.Load()
	if configured == nil || configured.IsConfigured == nil {
		return
	}
	isConfigured := configured.IsConfigured
	s.siteRecords.removeSitesExcept(isConfigured)
	s.violations.removeHostsExcept(isConfigured)
	s.violationEvents.removeHostsExcept(isConfigured)
	s.warningLimits.removeHostsExcept(func(host string) bool { return host == undecidedHost || isConfigured(host) })
	s.Metrics.RemoveHosts(isConfigured)
}

// removeSitesExcept drops the records of all sites outside a configuration.
func (s *siteRecords) removeSitesExcept(isConfigured func(label string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for label := range s.records.All() {
		if !isConfigured(label) {
			s.records.Delete(label)
		}
	}
}

// removeUnconfiguredHosts removes unconfigured hosts.
func (s *siteRecords) removeUnconfiguredHosts(hosts map[string]bool) {
	if configured := s.configured.Load(); configured != nil && configured.IsConfigured != nil {
		maps.DeleteFunc(hosts, func(host string, _ bool) bool { return !configured.IsConfigured(host) })
	}
}

// Modes returns the mode of each configured site by its label. A nil State has no sites.
func (s *State) Modes() map[string]string {
	if s == nil {
		return nil
	}
	return s.siteRecords.configuredModes()
}

// Enforces reports whether a site with this robots.txt is in enforce. For a configured host, the
// answer is known before the first crawler comes.
func (s *State) Enforces(key policy.Key) bool {
	if key.Source == "" && isEnforceMode(s.siteRecords.configuredModes()[site.NewSite(key).Label]) { // at any port, by http or https
		return true
	}
	for _, r := range s.siteRecords.recordsWithKey(key) {
		if isEnforceMode(r.mode) {
			return true
		}
	}
	return false
}

// NotProtecting returns the sites in enforce whose robots.txt restricts nobody, with the causes.
func (s *State) NotProtecting() map[string]string {
	causes := make(map[string]string)
	for label, r := range s.siteRecords.allWithCurrentMode() {
		e := s.Cache.Get(r.key)
		if e == nil || !isEnforceMode(r.mode) {
			continue
		}
		if n := report.FindProtectionProblem(e.State(), r.key.SourceKind()); n != nil {
			causes[label] = string(n.Cause)
		}
	}
	return causes
}

// maxLoggedHosts bounds the hosts in a log line.
const maxLoggedHosts = 10

// logProtectionChanges logs once when sites in enforce begin to have a robots.txt without restrictions,
// and once at the end of this condition.
func (g *Guard) logProtectionChanges(key policy.Key) {
	if key == (policy.Key{}) {
		return
	}
	began, ended, now := g.state.siteRecords.updateProtectionChanges(key, g.state.Cache.Get(key))
	if len(began) > 0 {
		g.Logger.Warn("not protecting: the site is in enforce, but its robots.txt restricts no crawler",
			zap.String("site", key.String()),
			zap.Strings("hosts", began[:min(len(began), maxLoggedHosts)]),
			zap.String("cause", string(now.Cause)),
			zap.String("detail", now.Detail),
			zap.String("cure", now.Remedy))
	}
	if len(ended) > 0 {
		g.Logger.Info("protecting again: the robots.txt has rules",
			zap.String("site", key.String()),
			zap.Strings("hosts", ended[:min(len(ended), maxLoggedHosts)]))
	}
}

// updateProtectionChanges returns the sites with a robots.txt whose protection has ended or begun again since the
// last log line, and why the robots.txt restricts nobody.
func (s *siteRecords) updateProtectionChanges(key policy.Key, e *policy.Entry) (began, ended []string, now *report.ProtectionProblem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// Loading the state under the lock gives the last caller the latest state.
	if e.Current() == nil {
		return nil, nil, nil
	}
	now = report.FindProtectionProblem(e.State(), key.SourceKind())
	cause := report.ProtectionProblemCause("")
	if now != nil {
		cause = now.Cause
	}
	for label, r := range s.recordsWithKey(key) {
		switch {
		case !isEnforceMode(r.mode) || r.loggedCause == cause:
			continue
		case now != nil:
			began = append(began, label)
		default:
			ended = append(ended, label)
		}
		r.loggedCause = cause
		s.records.Store(label, &r)
	}
	slices.Sort(began)
	slices.Sort(ended)
	return began, ended, now
}

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

// ConfiguredSites has the sites of a configuration by label. A label is a configured host, or
// judge.OtherName.
type ConfiguredSites struct {
	// IsConfigured reports whether the configuration has a site with a label; nil for no
	// configuration.
	IsConfigured func(label string) bool
	// Modes has the mode of each site with a guard: monitor, enforce or [ledger.ModeMixed].
	Modes map[string]string
}

// siteRecords has a record of each site that had a judged request. The configured hosts bound its
// size, see [State.UseSettings]. The zero value is empty.
type siteRecords struct {
	mu      sync.Mutex                           // This mutex is locked during changes of records.
	records cowmap.LargeMap[string, *siteRecord] // The key is the label of the site.
	// These are the sites of the last configuration. It is nil without a configuration.
	configured atomic.Pointer[ConfiguredSites]
}

// siteRecord is what the guard remembers about a site between requests. It is immutable.
type siteRecord struct {
	// guardNumber is the number of the latest guard with a judgement at the site.
	guardNumber int64
	// key is the key of the site's robots.txt. It is the zero Key if clients choose the key.
	key  policy.Key
	mode string // mode is the mode at the last change of the record.
	// loggedCause is the logged reason why the robots.txt restricts no crawler. It is "" for a site
	// with rules.
	loggedCause report.ProtectionProblemCause
}

// recordSite updates the record of a judgement's site, and records in the ledger a change of its
// mode.
func (g *Guard) recordSite(j *Judgement) {
	if g.firstJudgedLabel.Load() == nil {
		label := j.Site.Label // A pointer into the site could keep the judgement in memory.
		g.firstJudgedLabel.CompareAndSwap(nil, &label)
	}
	if mode, changed := g.state.siteRecords.recordSite(j.Site, g.serialNumber, judge.ModeWord(g.Settings.Enforce)); changed {
		g.state.Ledger.RecordModeChange(j.Site.Label, mode, time.Now())
		g.logProtectionChanges(j.Site.Key)
	}
}

// recordSite updates the record of a site after a judgement. guard is the serial number of the
// guard, and guardMode is the mode of a site that the configuration does not list. recordSite
// returns the mode of the site, and whether the record has changed. If the record does not change,
// recordSite takes no lock.
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

// updatedRecord returns the record r as it must be after a judgement. Several guards may serve one
// site, and guards of the previous configuration may still serve. The guard with the highest number
// determines the record.
func (s *siteRecords) updatedRecord(r siteRecord, of *site.Site, guard int64, guardMode string) siteRecord {
	switch {
	case guard > r.guardNumber:
		r.guardNumber, r.mode = guard, guardMode
		// The key of another source is outdated. Hosts that clients name never replace a key.
		if of.CacheSegment != policy.UnknownHosts && of.Key.Source != r.key.Source || isBetterKey(of, r.key) {
			r.key = of.Key
		}
	case of.Key.Source == r.key.Source && isBetterKey(of, r.key):
		r.key = of.Key
	}
	r.mode = s.currentMode(of.Label, r.mode)
	if !isEnforceMode(r.mode) {
		r.loggedCause = "" // In the mode monitor nothing is blocked.
	}
	return r
}

// isBetterKey reports whether a site's key should replace the recorded key of the same source.
// Clients choose ports and the scheme, so the key without a port and with https is best.
func isBetterKey(s *site.Site, known policy.Key) bool {
	switch {
	case s.CacheSegment == policy.UnknownHosts, s.Key == known:
		return false
	case known == policy.Key{}:
		return true
	case (s.Key.Host == s.Label) != (known.Host == s.Label):
		return s.Key.Host == s.Label
	}
	return s.Key.Host == known.Host && s.Key.IsHTTPS && !known.IsHTTPS
}

// isEnforceMode reports whether a mode of a site is enforce, at least for some paths.
func isEnforceMode(mode string) bool { return mode == judge.ModeWord(true) || mode == ledger.ModeMixed }

// currentMode returns the mode of a site in the configuration. For a site that the configuration
// does not list, it returns recorded.
func (s *siteRecords) currentMode(label, recorded string) string {
	return cmp.Or(s.configuredModes()[label], recorded)
}

// configuredModes returns the mode of each site with a guard in the configuration, by label.
func (s *siteRecords) configuredModes() map[string]string {
	if configured := s.configured.Load(); configured != nil {
		return configured.Modes
	}
	return nil
}

// recordsWithCurrentMode yields the label and the record of each site, with the site's current mode.
func (s *siteRecords) recordsWithCurrentMode() iter.Seq2[string, siteRecord] {
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

// recordsWithKey yields the label and the record of each site that uses the robots.txt with a key.
func (s *siteRecords) recordsWithKey(key policy.Key) iter.Seq2[string, siteRecord] {
	return func(yield func(string, siteRecord) bool) {
		if key.Source == "" { // At most one site has the label, so no search is necessary.
			label := site.NewSite(key).Label
			if r := s.loadRecord(label); r.key == key {
				r.mode = s.currentMode(label, r.mode)
				yield(label, r)
			}
			return
		}
		for label, r := range s.recordsWithCurrentMode() {
			if r.key == key && !yield(label, r) {
				return
			}
		}
	}
}

// removeUnconfigured drops the records, metrics and message limits of all sites that the
// configuration no longer has.
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

// removeSitesExcept drops the records of all sites for which isConfigured returns false.
func (s *siteRecords) removeSitesExcept(isConfigured func(label string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for label := range s.records.All() {
		if !isConfigured(label) {
			s.records.Delete(label)
		}
	}
}

// removeUnconfiguredHosts deletes from hosts the hosts that the configuration does not have.
func (s *siteRecords) removeUnconfiguredHosts(hosts map[string]bool) {
	if configured := s.configured.Load(); configured != nil && configured.IsConfigured != nil {
		maps.DeleteFunc(hosts, func(host string, _ bool) bool { return !configured.IsConfigured(host) })
	}
}

// Modes returns the mode of each site with a guard in the configuration, by label. A nil State has
// no sites.
func (s *State) Modes() map[string]string {
	if s == nil {
		return nil
	}
	return s.siteRecords.configuredModes()
}

// Enforces reports whether a site that uses the robots.txt with a key is in enforce mode. For a
// configured host, the answer is known before the first crawler comes.
func (s *State) Enforces(key policy.Key) bool {
	// The site may have any port and either scheme.
	if key.Source == "" && isEnforceMode(s.siteRecords.configuredModes()[site.NewSite(key).Label]) {
		return true
	}
	for _, r := range s.siteRecords.recordsWithKey(key) {
		if isEnforceMode(r.mode) {
			return true
		}
	}
	return false
}

// NotProtecting returns the labels of the sites in enforce mode whose robots.txt restricts no
// crawler, with the cause of each.
func (s *State) NotProtecting() map[string]string {
	causes := make(map[string]string)
	for label, r := range s.siteRecords.recordsWithCurrentMode() {
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

// logProtectionChanges warns once when the robots.txt with a key begins to restrict no crawler
// although its sites are in enforce mode. It logs once when the robots.txt restricts crawlers
// again.
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

// updateProtectionChanges returns the sites with a key for which logProtectionChanges must log:
// those whose robots.txt has begun to restrict no crawler, and those where this has ended. now has
// the cause, or is nil if the robots.txt restricts crawlers.
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

package guard

import (
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/metrics"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Live returns the current state of each site that a guard has judged for, by label.
func (s *State) Live() map[string]report.Live {
	all, enforced := s.presences.all(), s.presences.enforced()
	sites, takesEffect := make(map[string]report.Live, len(all)), s.TakesEffect()
	for label, site := range all {
		key, live := site.key, report.Live{Mode: site.mode, Enforces: enforced[label]}
		if key != (policy.Key{}) {
			live.Authority, live.Source = key.String(), key.SourceKind()
			if e := s.Cache.Get(key); e != nil {
				live.State = e.State()
			}
			live.HeldUntil, live.TakesEffect = s.changes.HoldEnd(key), takesEffect(key)
		}
		sites[label] = live
	}
	return sites
}

// Managed returns the running robots_txt handlers.
func (s *State) Managed() report.Texts { return &s.Texts }

// Changes returns the changes of robots_txt by site.
func (s *State) Changes() map[string][]report.ManagedChange { return s.Published.Report() }

// WaitingChanges returns the number of robots_txt changes that wait for confirmation.
func (s *State) WaitingChanges() (n int) {
	for _, changes := range s.Changes() {
		if slices.ContainsFunc(changes, func(c report.ManagedChange) bool { return c.State == report.ChangeWaiting }) {
			n++
		}
	}
	return n
}

// NextManagedChange returns the time of the next scheduled robots.txt, or the zero time.
func (s *State) NextManagedChange() time.Time { return s.Texts.Next(time.Now()) }

// AlertManager returns the alerts, or nil if no guard runs.
func (s *State) AlertManager() *alert.Manager {
	if s == nil {
		return nil
	}
	return s.Alerts
}

// StorageFailure returns the time and the cause of the first storage failure that still lasts. The
// time is zero if there is no failure or no storage.
func (s *State) StorageFailure() (since time.Time, err error) { return s.Memory.WriteFailure() }

// ParityFindings returns the number of open alerts about verified crawlers that do not get allowed
// pages, by site and finding.
func (s *State) AuditFindings() map[metrics.AuditFinding]int {
	found := make(map[metrics.AuditFinding]int)
	if s.Alerts == nil {
		return found
	}
	for _, a := range s.Alerts.List().Alerts {
		if what := responseaudit.FindingKind(a.Kind); slices.Contains(responseaudit.FindingKinds(), what) && a.State != alert.Over && a.Severity.AtLeast(alert.Warning) {
			found[metrics.AuditFinding{Host: a.Site, What: what}]++
		}
	}
	return found
}

// HasStorage reports whether data survive a restart.
func (s *State) HasStorage() bool { return s.Memory.HasRunningStore() }

// noteSearchBlocked raises an alert about a search engine that a rule for other crawlers blocked.
func (g *Guard) noteSearchBlocked(j *Judgement, crawler string) {
	if g.shared.Alerts == nil {
		return
	}
	g.shared.Alerts.RecordBlock(alert.Block{
		Site: j.Site.Label, Crawler: crawler, Identity: j.Identity,
		Rule: j.RobotsVerdict.Rule.String(), Line: j.RobotsVerdict.Rule.Line, Group: text.Truncate(j.RobotsVerdict.Group.Name, maxLoggedTarget), Path: j.Target,
	})
}

// Interface guard
var _ alert.StateSource = (*State)(nil)

package guard

import (
	"slices"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// protection records whether a site in enforce has a robots.txt with restrictions for crawlers.
type protection struct {
	enforces    bool                      // a guard enforces; after a reload, the previous value until the first judgement
	loggedCause report.NotProtectingCause // the logged cause, "" for none
}

// update recomputes protection after a change of the site's guards. presences.mu must be locked.
func (p *siteGuards) update() {
	if p.guards.Len() == 0 {
		return
	}
	p.enforces = false
	for g := range p.guards.All() {
		p.enforces = p.enforces || g.Settings.Enforce
	}
	if !p.enforces {
		p.loggedCause = "" // monitor blocks nothing
	}
}

// maxLoggedHosts bounds the hosts in a log line.
const maxLoggedHosts = 10

// noteProtection logs once when sites in enforce begin to have a robots.txt without restrictions,
// and once at the end of this condition.
func (g *Guard) noteProtection(key policy.Key) {
	if key == (policy.Key{}) {
		return
	}
	began, ended, now := g.shared.presences.protectionNews(key, g.shared.Cache.Get(key))
	if len(began) > 0 {
		g.Logger.Warn("not protecting: the site is in enforce, but its robots.txt restricts no crawler",
			zap.String("site", key.String()),
			zap.Strings("hosts", began[:min(len(began), maxLoggedHosts)]),
			zap.String("cause", string(now.Cause)),
			zap.String("detail", now.Detail),
			zap.String("cure", now.Cure))
	}
	if len(ended) > 0 {
		g.Logger.Info("protecting again: the robots.txt has rules",
			zap.String("site", key.String()),
			zap.Strings("hosts", ended[:min(len(ended), maxLoggedHosts)]))
	}
}

// protectionNews returns the sites with a robots.txt whose protection has ended or begun again since the
// last log line, and why the robots.txt restricts nobody.
func (p *presences) protectionNews(key policy.Key, e *policy.Entry) (began, ended []string, now *report.NotProtecting) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// Loading the state under the lock gives the last caller the latest state.
	if e.Current() == nil {
		return nil, nil, nil
	}
	now = report.NotProtectingOf(e.State(), key.SourceKind())
	for label, site := range p.with(key) {
		switch {
		case !site.enforces:
		case now != nil && site.loggedCause != now.Cause:
			site.loggedCause, began = now.Cause, append(began, label)
		case now == nil && site.loggedCause != "":
			site.loggedCause, ended = "", append(ended, label)
		}
	}
	slices.Sort(began)
	slices.Sort(ended)
	return began, ended, now
}

// with returns the sites whose robots.txt has a key, by label. p.mu must be locked.
func (p *presences) with(key policy.Key) map[string]*siteGuards {
	found := make(map[string]*siteGuards)
	if key.Source == "" {
		label := site.NewSite(key).Label
		if site, _ := p.sites.Load(label); site != nil && *site.key == key {
			found[label] = site
		}
		return found
	}
	for label, site := range p.sites.All() {
		if *site.key == key {
			found[label] = site
		}
	}
	return found
}

// enforced returns the labels of the sites in enforce.
func (p *presences) enforced() map[string]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	labels := make(map[string]bool)
	for label, site := range p.sites.All() {
		if site.enforces {
			labels[label] = true
		}
	}
	return labels
}

// Modes returns the mode of each configured site by its label. A nil State has no sites.
func (s *State) Modes() map[string]string {
	if s == nil {
		return nil
	}
	s.presences.mu.Lock()
	defer s.presences.mu.Unlock()
	return s.presences.modes
}

// Enforces reports whether a site with this robots.txt is in enforce. For a configured host, the
// answer is known before the first crawler comes.
func (s *State) Enforces(key policy.Key) bool {
	p := &s.presences
	p.mu.Lock()
	defer p.mu.Unlock()
	if key.Source == "" { // at any port, by http or https
		label := site.NewSite(key).Label
		site, _ := p.sites.Load(label)
		return site != nil && site.enforces || p.modes[label] == judge.ModeOf(true) || p.modes[label] == ledger.ModeMixed
	}
	for _, site := range p.with(key) {
		if site.enforces {
			return true
		}
	}
	return false
}

// NotProtecting returns the configured hosts in enforce whose robots.txt restricts nobody, with the
// causes.
func (s *State) NotProtecting() map[string]string {
	p := &s.presences
	p.mu.Lock()
	defer p.mu.Unlock()
	causes := make(map[string]string)
	for label, site := range p.sites.All() {
		if site.loggedCause != "" {
			causes[label] = string(site.loggedCause)
		}
	}
	return causes
}

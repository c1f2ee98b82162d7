package guard

import (
	"slices"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// protection is whether a site in enforce has something to enforce.
type protection struct {
	enforces bool         // some guard enforces; as it was while none has judged since a reload
	told     report.Cause // why its robots.txt forbids nothing, as the owner was told; "" for nothing
}

// update looks at the guards of a site. presences.mu must be held.
func (p *presence) update() {
	if p.guards.Len() == 0 {
		return
	}
	p.enforces = false
	for g := range p.guards.All() {
		p.enforces = p.enforces || g.Settings.Enforce
	}
	if !p.enforces {
		p.told = "" // in monitor nobody expects a block
	}
}

// maxLoggedHosts bounds the hosts that a log line names.
const maxLoggedHosts = 10

// noteProtection tells the owner once when sites in enforce begin to have a
// robots.txt that forbids nothing, and once when that ends.
func (g *Guard) noteProtection(key policy.Key) {
	if key == (policy.Key{}) {
		return
	}
	began, ended, now := g.shared.presences.protectionNews(key, g.shared.Cache.Get(key))
	if len(began) > 0 {
		g.Logger.Warn("not protecting: the site is in enforce, and its robots.txt forbids nothing to anybody",
			zap.String("site", key.String()),
			zap.Strings("hosts", began[:min(len(began), maxLoggedHosts)]),
			zap.String("cause", string(now.Cause)),
			zap.String("detail", now.Detail),
			zap.String("cure", now.Cure))
	}
	if len(ended) > 0 {
		g.Logger.Info("protecting again: the robots.txt forbids something",
			zap.String("site", key.String()),
			zap.Strings("hosts", ended[:min(len(ended), maxLoggedHosts)]))
	}
}

// protectionNews returns the sites with a robots.txt for which something about
// their protection is to be told, and why it forbids nothing.
func (p *presences) protectionNews(key policy.Key, e *policy.Entry) (began, ended []string, now *report.NotProtecting) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// The state is looked at within the lock, so that the last to come has the latest.
	if e.Good() == nil {
		return nil, nil, nil
	}
	now = report.NotProtectingOf(e.State(), key.SourceKind())
	for label, site := range p.with(key) {
		switch {
		case !site.enforces:
		case now != nil && site.told != now.Cause:
			site.told, began = now.Cause, append(began, label)
		case now == nil && site.told != "":
			site.told, ended = "", append(ended, label)
		}
	}
	slices.Sort(began)
	slices.Sort(ended)
	return began, ended, now
}

// with returns the sites whose robots.txt a key is, by label. p.mu must be held.
func (p *presences) with(key policy.Key) map[string]*presence {
	found := make(map[string]*presence)
	if key.Source == "" {
		label := request.NewSite(key).Label
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

// Enforces reports whether some site with this robots.txt is in enforce. A configured host
// counts before its first crawler comes.
func (s *State) Enforces(key policy.Key) bool {
	p := &s.presences
	p.mu.Lock()
	defer p.mu.Unlock()
	if key.Source == "" { // at any port, by http or https
		label := request.NewSite(key).Label
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

// NotProtecting returns the configured hosts in enforce whose robots.txt forbids
// nothing, and why.
func (s *State) NotProtecting() map[string]string {
	p := &s.presences
	p.mu.Lock()
	defer p.mu.Unlock()
	causes := make(map[string]string)
	for label, site := range p.sites.All() {
		if site.told != "" {
			causes[label] = string(site.told)
		}
	}
	return causes
}

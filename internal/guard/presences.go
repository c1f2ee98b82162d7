package guard

import (
	"cmp"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/cowmap"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// presences has the guards of each site, and the source of its robots.txt. The configured hosts
// bound its size, see [State.UseSettings]. The zero value is empty.
type presences struct {
	mu       sync.Mutex
	sites    cowmap.Large[string, *siteGuards] // by label
	registry *uaident.CurrentRegistry          // of the last guard; nil before the first
	named    func(label string) bool           // whether a host is configured; nil without a configuration
	modes    map[string]string                 // see [ConfiguredSites]
}

// siteGuards has the guards of one site.
type siteGuards struct {
	key    *policy.Key                     // immutable; the zero Key if clients choose the key
	guards cowmap.Map[*Guard, *policy.Key] // with the key recorded for each
	protection
}

// recordPresence records that the guard serves the site of a judgement.
func (g *Guard) recordPresence(j *Judgement) {
	if j.configured != nil && j.configured.present.Load() {
		return
	}
	if !g.shared.presences.has(g, j.Site) {
		if mode := g.shared.presences.add(g, j); mode != "" && g.shared.Ledger != nil {
			g.shared.Ledger.RecordModeChange(j.Site.Label, mode, time.Now())
		}
		g.noteProtection(j.Site.Key)
	}
	if j.configured != nil {
		j.configured.present.Store(true)
	}
}

// judgesFor reports whether the guard has served a site.
func (g *Guard) judgesFor(label string) bool {
	_, ok := g.shared.presences.keyOf(g, label)
	return ok
}

// has reports whether presences has the guard at a site, with a key as good as that of s.
func (p *presences) has(g *Guard, s *site.Site) bool {
	key, ok := p.keyOf(g, s.Label)
	return ok && !isBetterKey(s, key)
}

// keyOf returns the key of a site as recorded for a guard. It does not lock.
func (p *presences) keyOf(g *Guard, label string) (key policy.Key, ok bool) {
	site, _ := p.sites.Load(label)
	if site == nil {
		return policy.Key{}, false
	}
	if noted, _ := site.guards.Load(g); noted != nil {
		return *noted, true
	}
	return policy.Key{}, false
}

// add records a guard at a site and returns the site's mode, or "" if its guards differ. Both the old and
// the new configuration may judge during a reload.
func (p *presences) add(g *Guard, j *Judgement) (mode string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	site := p.sites.LoadOrStore(j.Site.Label, func() *siteGuards { return &siteGuards{key: new(policy.Key)} })
	switch better := isBetterKey(j.Site, *site.key); {
	case j.configured != nil && (better || j.Site.Key == *site.key):
		site.key = &j.Site.Key // avoids a copy
	case better:
		site.key = new(j.Site.Key)
	}
	if !g.gone { // a request may outlive its configuration
		site.guards.Store(g, site.key)
		site.update()
		p.registry = g.Registry
	}
	if g.sites == nil {
		g.sites = make(map[string]*policy.Key)
	}
	g.sites[j.Site.Label] = site.key
	if mode = site.mode(); mode == ledger.ModeMixed {
		return ""
	}
	return mode
}

// mode returns the mode of a site, "" before the first judgement. presences.mu must be locked.
func (p *siteGuards) mode() (mode string) {
	for g := range p.guards.All() {
		one := judge.ModeOf(g.Settings.Enforce)
		if mode != "" && mode != one {
			return ledger.ModeMixed
		}
		mode = one
	}
	return mode
}

// isBetterKey reports whether the key of a site is better than the known key. Clients choose ports,
// and http or https.
func isBetterKey(s *site.Site, known policy.Key) bool {
	switch {
	case s.Segment == policy.UnknownHosts, s.Key == known:
		return false
	case known == policy.Key{}, s.Key.Source != known.Source:
		return true
	case (s.Key.Host == s.Label) != (known.Host == s.Label):
		return s.Key.Host == s.Label
	}
	return s.Key.Host == known.Host && s.Key.Secure && !known.Secure
}

// leavePart is the number of sites a guard leaves under one lock. Other requests then do not wait
// for a guard with very many sites.
const leavePart = 256

// leave removes a guard after the end of its configuration and returns the modes of its sites by label.
func (p *presences) leave(g *Guard) map[string]string {
	p.mu.Lock()
	g.gone = true
	labels := slices.Collect(maps.Keys(g.sites))
	p.mu.Unlock()
	modes := make(map[string]string, len(labels))
	for part := range slices.Chunk(labels, leavePart) {
		p.leaveSome(g, part, modes)
		runtime.Gosched() // not to be interrupted with the lock held
	}
	return modes
}

// leaveSome is leave for some sites.
func (p *presences) leaveSome(g *Guard, labels []string, modes map[string]string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, label := range labels {
		if site, _ := p.sites.Load(label); site != nil {
			site.guards.Delete(g)
			site.update()
			modes[label] = site.mode()
			p.drop(label, site)
		}
	}
}

// leave removes the guard from its sites and records their modes.
func (g *Guard) leave() {
	for label, mode := range g.shared.presences.leave(g) {
		if g.shared.Ledger != nil && mode != "" {
			g.shared.Ledger.RecordModeChange(label, mode, time.Now())
		}
	}
}

// standing has the key of a site's robots.txt and the mode, "" without a guard.
type standing struct {
	key  policy.Key
	mode string
}

// all returns the standing of each site by label.
func (p *presences) all() map[string]standing {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make(map[string]standing)
	for label, site := range p.sites.All() {
		all[label] = standing{*site.key, cmp.Or(site.mode(), p.modes[label])}
	}
	return all
}

// configuredMode returns the configured mode of a site, or "".
func (p *presences) configuredMode(label string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.modes[label]
}

// known returns the registry of the last guard, or nil.
func (p *presences) known() *uaident.Registry {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.registry == nil {
		return nil
	}
	return p.registry.Load()
}

// ConfiguredSites has the sites of a configuration, by label.
type ConfiguredSites struct {
	// Named reports whether the configuration names a host; nil for no configuration.
	Named func(label string) bool
	// Modes are monitor, enforce or [ledger.ModeMixed] for the sites with a guard.
	Modes map[string]string
}

// forget drops the data of all sites outside a configuration. Data of a site with a running guard
// stay.
func (s *State) forget(sites ConfiguredSites) {
	named := sites.Named
	s.presences.forget(sites)
	if named == nil {
		return
	}
	s.violations.forget(named)
	s.violationEvents.forget(named)
	s.warningLimits.forget(func(host string) bool { return host == undecidedLines || named(host) })
	s.Metrics.RemoveHosts(named)
}

// forget drops unconfigured sites without a guard.
func (p *presences) forget(sites ConfiguredSites) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.named, p.modes = sites.Named, sites.Modes
	for label, site := range p.sites.All() {
		p.drop(label, site)
	}
}

// drop is forget for one site. p.mu must be locked.
func (p *presences) drop(label string, site *siteGuards) {
	if p.named != nil && site.guards.Len() == 0 && !p.named(label) {
		p.sites.Delete(label)
	}
}

// keepNamed removes unconfigured hosts.
func (p *presences) keepNamed(hosts map[string]bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(hosts, func(host string, _ bool) bool { return p.named != nil && !p.named(host) })
}

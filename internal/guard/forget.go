package guard

import "maps"

// ConfiguredSites has the sites of a configuration, by label.
type ConfiguredSites struct {
	// Named reports whether the configuration names a host; nil for no configuration.
	Named func(label string) bool
	// Modes are monitor, enforce or [ledger.ModeMixed] for the sites with a guard.
	Modes map[string]string
}

// forget drops the data of all sites but those of a configuration. Data of a site with a running guard stay.
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

// forget drops the sites that no guard judges for and the configuration does not name.
func (p *presences) forget(sites ConfiguredSites) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.named, p.modes = sites.Named, sites.Modes
	for label, site := range p.sites.All() {
		p.drop(label, site)
	}
}

// drop is forget for one site. p.mu must be locked.
func (p *presences) drop(label string, site *presence) {
	if p.named != nil && site.guards.Len() == 0 && !p.named(label) {
		p.sites.Delete(label)
	}
}

// keepNamed removes the hosts that the configuration does not name.
func (p *presences) keepNamed(hosts map[string]bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(hosts, func(host string, _ bool) bool { return p.named != nil && !p.named(host) })
}

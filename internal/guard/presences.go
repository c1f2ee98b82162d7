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
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// presences remember which guards judge for which sites, and where the
// robots.txt of each comes from. What they hold is bounded by the configured
// hosts, of which [State.UseSites] tells. The zero presences are empty.
type presences struct {
	mu       sync.Mutex
	sites    cowmap.Large[string, *presence] // by label
	registry *uaident.Current                // of the last of them; nil before there was one
	named    func(label string) bool         // whether the configuration names a host; nil while none says so
	modes    map[string]string               // see [ConfiguredSites]
}

type presence struct {
	key    *policy.Key                     // the zero Key where clients choose it; what it points to never changes
	guards cowmap.Map[*Guard, *policy.Key] // that judge for it now, with the key as it was when they were noted
	protection
}

// presence remembers that the guard judges for the site of a judgement.
func (g *Guard) presence(j *Judgement) {
	if j.kept != nil && j.kept.present.Load() {
		return
	}
	if !g.shared.presences.has(g, j.Site) {
		if mode := g.shared.presences.add(g, j); mode != "" && g.shared.Ledger != nil {
			g.shared.Ledger.Switched(j.Site.Label, mode, time.Now())
		}
		g.noteProtection(j.Site.Key)
	}
	if j.kept != nil {
		j.kept.present.Store(true)
	}
}

// judgesFor reports whether the guard has judged for a site, by its label.
func (g *Guard) judgesFor(label string) bool {
	_, ok := g.shared.presences.keyOf(g, label)
	return ok
}

// has reports whether the guard is known to judge for a site, and the key of the site
// tells no more than the one that is known.
func (p *presences) has(g *Guard, s *request.Site) bool {
	key, ok := p.keyOf(g, s.Label)
	return ok && !isBetterKey(s, key)
}

// keyOf returns the key of a site as it was when the guard was noted to judge for it, by
// the label of the site. It takes no lock.
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

// add returns the mode of the site. While a configuration takes the place of
// another, both may judge: it is "" where not all guards have the same.
func (p *presences) add(g *Guard, j *Judgement) (mode string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	site := p.sites.LoadOrStore(j.Site.Label, func() *presence { return &presence{key: new(policy.Key)} })
	switch better := isBetterKey(j.Site, *site.key); {
	case j.kept != nil && (better || j.Site.Key == *site.key):
		site.key = &j.Site.Key // which is kept anyway, unlike that of a configuration that has ended
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

// mode returns the mode of a site, "" where no guard of a running configuration
// has judged yet. presences.mu must be held.
func (p *presence) mode() (mode string) {
	for g := range p.guards.All() {
		one := judge.ModeOf(g.Settings.Enforce)
		if mode != "" && mode != one {
			return ledger.ModeMixed
		}
		mode = one
	}
	return mode
}

// isBetterKey reports whether the key of a site describes the site better than the known one:
// clients choose ports, and may choose http where there is https.
func isBetterKey(s *request.Site, known policy.Key) bool {
	switch {
	case s.Segment == policy.Invented, s.Key == known:
		return false
	case known == policy.Key{}, s.Key.Source != known.Source:
		return true
	case (s.Key.Host == s.Label) != (known.Host == s.Label):
		return s.Key.Host == s.Label
	}
	return s.Key.Host == known.Host && s.Key.Secure && !known.Secure
}

// leavePart is how many sites a guard leaves at a time. The first requests that another
// guard judges for a site wait meanwhile, and there may be very many sites.
const leavePart = 256

// leave forgets a guard whose configuration has ended. It returns the modes of
// its sites, by label.
func (p *presences) leave(g *Guard) map[string]string {
	p.mu.Lock()
	g.gone = true
	labels := slices.Collect(maps.Keys(g.sites))
	p.mu.Unlock()
	modes := make(map[string]string, len(labels))
	for part := range slices.Chunk(labels, leavePart) {
		p.leaveSome(g, part, modes)
		runtime.Gosched() // rather than be interrupted on a busy machine with the lock held
	}
	return modes
}

// leaveSome is leave for these sites.
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

// leave forgets a guard whose configuration has ended, and takes note of the
// modes of its sites without it.
func (g *Guard) leave() {
	for label, mode := range g.shared.presences.leave(g) {
		if g.shared.Ledger != nil && mode != "" {
			g.shared.Ledger.Switched(label, mode, time.Now())
		}
	}
}

// standing is where the robots.txt of a site comes from and its mode, "" where no guard of a
// running configuration is for it.
type standing struct {
	key  policy.Key
	mode string
}

// all returns how each site stands, by label.
func (p *presences) all() map[string]standing {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make(map[string]standing)
	for label, site := range p.sites.All() {
		all[label] = standing{*site.key, cmp.Or(site.mode(), p.modes[label])}
	}
	return all
}

// configuredMode returns the mode of a site by the configuration, "" where that has no guard
// for it.
func (p *presences) configuredMode(label string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.modes[label]
}

// known returns what is known of crawlers, nil before a guard has judged.
func (p *presences) known() *uaident.Registry {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.registry == nil {
		return nil
	}
	return p.registry.Load()
}

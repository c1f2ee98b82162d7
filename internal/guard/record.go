package guard

import (
	"cmp"
	"net/http"
	"sync"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/cowmap"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/internal/strangers"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// record counts a judgement in the ledger.
func (g *Guard) record(r *http.Request, j *Judgement) {
	if g.shared.Ledger == nil {
		return
	}
	g.presence(j)
	if g.shared.own.reads(j) {
		return
	}
	if j.at.IsZero() {
		j.at = time.Now()
	}
	q := g.ledgerRequest(r, j, j.at)
	j.recorded = true
	g.shared.Ledger.Record(&q)
	g.noteStranger(r, j, &q, false)
}

// recordReading counts in the ledger what a crawler got for a robots.txt.
func (g *Guard) recordReading(r *http.Request, j *Judgement, read ledger.Reading) {
	if g.shared.Ledger == nil {
		return
	}
	q := g.ledgerRequest(r, j, time.Now())
	g.noteStranger(r, j, &q, true)
	g.shared.Ledger.RecordRead(&q, ledger.Read{At: read.At.UnixMilli(), Status: read.Status, Version: read.Hash})
}

// ledgerRequest returns a judged request as the ledger counts it.
func (g *Guard) ledgerRequest(r *http.Request, j *Judgement, at time.Time) ledger.Request {
	q := ledger.Request{
		At:        at,
		Site:      j.Site.Label,
		Shared:    j.Site.Segment == policy.Invented,
		Identity:  j.Identity,
		Verdict:   j.Verdict,
		Action:    j.Action,
		Slowed:    j.Rate.Slowed,
		Shed:      j.Rate.State == rate.Shed && j.Action == judge.Slowed,
		Method:    r.Method,
		Target:    j.Target,
		UserAgent: request.UserAgentOf(r),
		GroupLine: j.Evidence.Group.Line,
	}
	if j.agent != nil {
		q.UserAgent, q.Lasting = j.agent.userAgent, true
	}
	if j.Action == judge.Slowed {
		q.Action = j.Rate.instead
	}
	q.WouldBlock = q.Action == judge.Logged && !j.LogOnly
	if name, _ := addr.CutPort(j.Site.Own.Host); addr.Unbracket(name) != j.Site.Label {
		q.Host = text.Printable(j.Site.Own.Host)
	}
	q.Token, q.Class, q.Named = j.counted()
	q.Against = judge.IsAgainst(j.Preferences, q.Class)
	if q.Token == ledger.Other || q.Token == judge.SpoofedName {
		q.Name = text.Printable(j.Client.Name())
	}
	if j.Version != nil {
		q.Since = j.Version.FirstRead
		q.Rule = ledger.Rule{Version: j.Version.Hash, Line: j.Evidence.Rule.Line, Group: j.Evidence.Group.Name}
	}
	if j.Verdict == judge.Disallowed || j.Verdict == judge.Stale {
		q.Rule.Text = j.Evidence.Rule.String()
	}
	if j.Verdict == judge.Disallowed {
		q.Network = addr.Network(request.ClientAddr(r))
	}
	return q
}

// noteStranger counts a client that no registry and no robots.txt knows.
func (g *Guard) noteStranger(r *http.Request, j *Judgement, q *ledger.Request, robots bool) {
	if q.Token == ledger.Other {
		g.shared.Strangers.Note(strangers.Visit{
			Name: j.Client.Name(), Class: j.Client.Class, UserAgent: q.UserAgent, Network: addr.Network(request.ClientAddr(r)), Robots: robots, At: q.At,
		})
	}
}

// counted returns by which name and class a client is counted in the ledger, and
// whether the robots.txt names it.
func (j *Judgement) counted() (token string, class uaident.Class, named bool) {
	if j.Identity == verify.Spoofed {
		return judge.SpoofedName, uaident.Other, false
	}
	return cmp.Or(j.KnownName(), ledger.Other), j.Client.Class, j.Named
}

// classCounted returns by which class a client is counted.
func (j *Judgement) classCounted() uaident.Class {
	if j.Identity == verify.Spoofed {
		return uaident.Other
	}
	return j.Client.Class
}

// presences remember which guards judge for which sites, and where the
// robots.txt of each comes from. What they hold is bounded by the configured
// hosts. The zero presences are empty.
type presences struct {
	mu       sync.Mutex
	sites    cowmap.Sharded[string, *presence] // by label
	registry *uaident.Current                  // of the last of them; nil before there was one
}

type presence struct {
	key    policy.Key                     // the zero Key where clients choose it
	guards cowmap.Map[*Guard, policy.Key] // that judge for it now, with the key as it was when they were noted
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
	site, _ := g.shared.presences.sites.Load(label)
	if site == nil {
		return false
	}
	_, ok := site.guards.Load(g)
	return ok
}

// has reports whether the guard is known to judge for a site, and the key of the site
// tells no more than the one that is known. It takes no lock.
func (p *presences) has(g *Guard, s *request.Site) bool {
	site, _ := p.sites.Load(s.Label)
	if site == nil {
		return false
	}
	key, ok := site.guards.Load(g)
	return ok && !prefers(s, key)
}

// add returns the mode of the site. While a configuration takes the place of
// another, both may judge: it is "" where not all guards have the same.
func (p *presences) add(g *Guard, j *Judgement) (mode string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	site := p.sites.LoadOrStore(j.Site.Label, func() *presence { return new(presence) })
	if prefers(j.Site, site.key) {
		site.key = j.Site.Key
	}
	if !g.gone { // a request may outlive its configuration
		site.guards.Store(g, site.key)
		site.update()
		p.registry = g.Registry
	}
	if g.sites == nil {
		g.sites = make(map[string]policy.Key)
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

// prefers reports whether the key of a site tells more than the one that is
// known: clients choose ports, and may choose http where there is https.
func prefers(s *request.Site, known policy.Key) bool {
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

// leave forgets a guard whose configuration has ended. It returns the modes of
// its sites, by label.
func (p *presences) leave(g *Guard) map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	g.gone = true
	modes := make(map[string]string)
	for label := range g.sites {
		if site, _ := p.sites.Load(label); site != nil {
			site.guards.Delete(g)
			site.update()
			modes[label] = site.mode()
		}
	}
	return modes
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

// edited takes note that another robots.txt took the place of one, at each site
// that it is for.
func (g *Guard) edited(key policy.Key, before, after *policy.Version) {
	if g.shared.Ledger == nil || before == nil || after == nil {
		return
	}
	p := &g.shared.presences
	p.mu.Lock()
	sites := p.with(key)
	p.mu.Unlock()
	for label := range sites {
		g.shared.Ledger.Edited(label, before, after, after.FirstRead)
	}
}

// all returns where the robots.txt of each site comes from and its mode, ""
// where no guard of a running configuration has judged yet, and what is known
// of crawlers.
func (p *presences) all() (keys map[string]policy.Key, modes map[string]string, registry *uaident.Registry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	keys, modes = make(map[string]policy.Key), make(map[string]string)
	for label, site := range p.sites.All() {
		keys[label] = site.key
		if mode := site.mode(); mode != "" {
			modes[label] = mode
		}
	}
	if p.registry != nil {
		registry = p.registry.Load()
	}
	return keys, modes, registry
}

// Reports returns what the reports of a time are made of, which is nothing where no
// ledger is kept.
func (s *State) Reports(now time.Time) *report.Source {
	source := &report.Source{Now: now, Live: make(map[string]report.Live)}
	if s == nil || s.Ledger == nil {
		return source
	}
	source.Texts = &s.Texts
	source.Ledger = s.Ledger.Snapshot()
	if others := s.Memory.Others(); others != nil {
		source.Ledger = ledger.Merge(source.Ledger, others.Snapshot())
	}
	seen := make(map[string]bool)
	for _, site := range source.Ledger.Sites {
		seen[site.Name] = true
	}
	_, _, source.Registry = s.presences.all()
	source.Found = s.findings
	s.tried.report(source)
	if history := s.history.Load(); history != nil {
		source.History = *history
	}
	for label, live := range s.Live() {
		if live.Mode != "" || seen[label] {
			source.Live[label] = live
		}
	}
	return source
}

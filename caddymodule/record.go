package caddymodule

import (
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// record takes note of a judgement in the ledger.
func (g *guard) record(r *http.Request, j *judgement) {
	if g.state.ledger == nil {
		return
	}
	g.presence(j)
	q := g.recorded(r, j)
	g.state.ledger.Record(&q)
}

// recordRead takes note of what a crawler got for a robots.txt.
func (g *guard) recordRead(r *http.Request, j *judgement, read ledger.Reading) {
	if g.state.ledger == nil {
		return
	}
	q := g.recorded(r, j)
	g.state.ledger.RecordRead(&q, ledger.Read{At: read.At.UnixMilli(), Status: read.Status, Version: read.Hash})
}

// recorded returns a judgement as the ledger takes note of it.
func (g *guard) recorded(r *http.Request, j *judgement) ledger.Request {
	q := ledger.Request{
		At:         time.Now(),
		Site:       j.site.label,
		Shared:     j.site.segment == policy.Invented,
		Token:      j.knownName(),
		Named:      j.named,
		Class:      j.client.Class,
		Identity:   ledger.Identity(j.identity),
		Verdict:    ledger.Verdict(j.verdict),
		Action:     ledger.Action(j.action),
		WouldBlock: j.action == actionLogged && !g.spares(j),
		Method:     r.Method,
		Target:     j.target,
		UserAgent:  userAgentOf(r),
		GroupLine:  j.policy.Group.Line,
	}
	switch {
	case j.identity == identitySpoofed:
		q.Token, q.Class, q.Named = spoofedLabel, uaident.Other, false
	case q.Token == "":
		q.Token = ledger.Other
	}
	if j.version != nil {
		q.Since = j.version.FirstRead
		q.Rule = ledger.Rule{Version: j.version.Hash, Line: j.policy.Rule.Line, Group: j.policy.Group.Name}
	}
	if j.verdict == verdictDisallowed || j.verdict == verdictStale {
		q.Rule.Text = j.policy.Rule.String()
	}
	if j.verdict == verdictDisallowed {
		q.Network = ledger.Network(clientAddr(r))
	}
	return q
}

// presences remember which guards judge for which sites, and where the
// robots.txt of each comes from. What they hold is bounded by the configured
// hosts. The zero presences are empty.
type presences struct {
	mu       sync.Mutex
	sites    map[string]*presence // by label
	registry *uaident.Registry    // of the last of them; nil before there was one
}

type presence struct {
	key     policy.Key // the zero Key where clients choose it
	enforce map[*guard]bool
}

// guardSites are the sites for which a guard is known to judge.
type guardSites = atomic.Pointer[map[string]policy.Key] // copied on write

// presence notes that the guard judges for the site of a judgement.
func (g *guard) presence(j *judgement) {
	known := g.sites.Load()
	if known != nil {
		if key, ok := (*known)[j.site.label]; ok && !prefers(j.site, key) {
			return
		}
	}
	p := &g.state.presences
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := make(map[string]policy.Key)
	if known = g.sites.Load(); known != nil {
		changed = maps.Clone(*known)
	}
	site := p.sites[j.site.label]
	if site == nil {
		if p.sites == nil {
			p.sites = make(map[string]*presence)
		}
		site = &presence{enforce: make(map[*guard]bool)}
		p.sites[j.site.label] = site
	}
	if prefers(j.site, site.key) {
		site.key = j.site.key
	}
	if !g.gone { // a request may outlive its configuration
		site.enforce[g] = g.enforce
		p.registry = g.app.registry
	}
	changed[j.site.label] = site.key
	g.sites.Store(&changed)
}

// prefers reports whether the key of a site tells more than the one that is
// known: clients choose ports, and may choose http where there is https.
func prefers(s site, known policy.Key) bool {
	switch {
	case s.segment == policy.Invented, s.key == known:
		return false
	case known == policy.Key{}, s.key.Source != known.Source:
		return true
	case (s.key.Host == s.label) != (known.Host == s.label):
		return s.key.Host == s.label
	}
	return s.key.Host == known.Host && s.key.Secure && !known.Secure
}

// leave forgets a guard whose configuration has ended.
func (p *presences) leave(g *guard) {
	p.mu.Lock()
	defer p.mu.Unlock()
	g.gone = true
	for _, site := range p.sites {
		delete(site.enforce, g)
	}
}

// all returns where the robots.txt of each site comes from and its mode, ""
// where no guard of a running configuration has judged yet, and what is known
// of crawlers.
func (p *presences) all() (keys map[string]policy.Key, modes map[string]string, registry *uaident.Registry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	keys, modes = make(map[string]policy.Key), make(map[string]string)
	for label, site := range p.sites {
		keys[label] = site.key
		for _, enforce := range site.enforce {
			mode := modeMonitor
			if enforce {
				mode = modeEnforce
			}
			if known := modes[label]; known != "" && known != mode {
				mode = modeMixed
			}
			modes[label] = mode
		}
	}
	return keys, modes, p.registry
}

// modeMixed is the mode of a site of which some parts are enforced.
const modeMixed = "mixed"

// source returns what the reports of a time are made of.
func (s *state) source(now time.Time) *report.Source {
	source := &report.Source{Now: now, Live: make(map[string]report.Live)}
	if s == nil || s.ledger == nil {
		return source
	}
	source.Ledger = s.ledger.Snapshot()
	if others := s.others.Load(); others != nil {
		source.Ledger = ledger.Merge(source.Ledger, others.Snapshot())
	}
	seen := make(map[string]bool)
	for _, site := range source.Ledger.Sites {
		seen[site.Name] = true
	}
	keys, modes, registry := s.presences.all()
	source.Registry = registry
	for label, key := range keys {
		live := report.Live{Mode: modes[label]}
		if key != (policy.Key{}) {
			live.Authority, live.Source = key.String(), sourceLabel(key)
			if e := s.cache.Get(key); e != nil {
				live.Standing = e.Standing()
			}
			live.HeldUntil = s.changes.heldUntil(key)
		}
		if live.Mode != "" || seen[label] {
			source.Live[label] = live
		}
	}
	return source
}

// heldUntil returns until when a change of a robots.txt is held back, the zero
// time if none is.
func (c *changes) heldUntil(key policy.Key) (until time.Time) {
	held := c.site(site{key: key, segment: policy.Named})
	if held == nil {
		return time.Time{}
	}
	now := c.now()
	held.mu.Lock()
	defer held.mu.Unlock()
	for _, h := range held.holds {
		if now.Before(h.until) && h.until.After(until) {
			until = h.until
		}
	}
	return until
}

// retain sets for how long the ledger is kept, by default if retention is 0. It
// returns no error.
func (s *state) retain(retention time.Duration) error {
	s.ledger.Retain(retention)
	return nil
}

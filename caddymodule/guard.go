package caddymodule

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// guard judges requests with the settings of one handler.
type guard struct {
	enforce      bool
	source       source
	sourceKey    string // what sites with this source share, "" for the site itself
	freshness    policy.Freshness
	grace        time.Duration
	changeGuard  time.Duration // 0 for off
	fallback     policy.Fallback
	fetchTimeout time.Duration
	fetchWait    time.Duration
	keepSlashes  bool
	wildcard     classSet // 0 for the default
	exempt       clients
	onlyLog      clients
	spoofed      string // what to do about requests under a false name
	app          *App

	state     *state
	metrics   *metrics
	suspected sync.Once // that a proxy is not trusted
	logger    *zap.Logger
	events    *events
	sites     guardSites            // for which it has judged
	gone      bool                  // its configuration has ended; guarded by presences.mu
	lastHosts atomic.Pointer[hosts] // of the server that was asked last
}

// newGuard makes the guard of a handler whose defaults are set.
func newGuard(ctx caddy.Context, h *Handler) (*guard, error) {
	g := &guard{
		enforce:      h.Mode == modeEnforce,
		fetchTimeout: time.Duration(h.FetchTimeout),
		fetchWait:    time.Duration(h.FetchWait),
		freshness:    policy.Freshness{Min: time.Duration(h.TTLMin), Max: time.Duration(h.TTLMax)},
		grace:        max(0, time.Duration(h.Grace)),
		changeGuard:  time.Duration(h.ChangeGuard),
		keepSlashes:  h.KeepSlashes,
		spoofed:      h.Spoofed,
		logger:       h.logger,
	}
	switch h.Unreachable {
	case unreachableAllow:
		g.fallback = policy.AllowAll
	case unreachableDisallow:
		g.fallback = policy.DisallowAll
	case unreachableGoogle:
		g.fallback = policy.DisallowGoogle
	}
	var err error
	if g.app, err = appOf(ctx); err != nil {
		return nil, err
	}
	if g.wildcard, err = parseClasses(h.Wildcard); err != nil {
		return nil, err
	}
	if g.exempt, err = parseClients(g.app.registry, h.Exempt, h.ExemptVerified); err != nil {
		return nil, err
	}
	if g.onlyLog, err = parseClients(g.app.registry, h.OnlyLog, h.OnlyLogVerified); err != nil {
		return nil, err
	}
	g.source, g.sourceKey, g.freshness.Default = newSource(h.Source, h.AllowPrivate)
	if g.metrics, err = registerMetrics(ctx); err != nil {
		return nil, err
	}
	if g.state, err = acquireState(ctx); err != nil {
		return nil, err
	}
	if g.events, err = newEvents(ctx, h.logger); err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { g.state.presences.leave(g) })
	if g.changeGuard > 0 {
		g.state.changes.guarded(ctx)
	}
	if g.sourceKey != "" {
		g.state.sources.add(ctx, policy.Key{Source: g.sourceKey}, g.standalone())
	}
	return g, nil
}

// judge judges a request. It returns nil for requests that are nobody's
// business: those of browsers and of clients without a name. It does not
// allocate for these.
func (g *guard) judge(r *http.Request) *judgement {
	userAgent := userAgentOf(r)
	if userAgent == "" || hasNoPath(r) {
		return nil
	}
	site := g.siteOf(r)
	entry := g.state.cache.Get(site.key)
	atHand := g.atHand(entry, site.key)
	client := g.app.registry.IdentifyWith(userAgent, overlayOf(g.app.registry, atHand))
	if client.Class == uaident.Browser {
		return nil
	}
	original := originalRequest(r)
	if isACMEChallenge(original) {
		return nil
	}
	who, proof := g.app.identify(r, client)
	if who == identitySpoofed {
		g.suspectProxy(r)
	}
	j := &judgement{client: client, identity: who, proof: proof, site: site, target: targetOf(original)}
	switch {
	case isRobotsTxt(original):
		// never judged, and no reason to read it
	case g.exempt.has(j):
		j.verdict = verdictExempt
	default:
		g.ask(r, original, entry, atHand, j)
		if j.identity == identitySpoofed && g.spoofed == spoofedBlock && j.action == actionNone {
			j.liar = true
			g.act(j)
		}
	}
	return j
}

// atHand returns what is known of a site without reading anything, nil if nothing
// is. Of a host that clients have invented that is what its neighbours have.
func (g *guard) atHand(entry *policy.Entry, key policy.Key) *policy.Standing {
	if entry != nil {
		if standing := entry.Standing(); standing != nil {
			return standing
		}
	}
	return g.state.cache.Shared(key)
}

// siteOf returns the site that a request is for, and whose robots.txt it is
// judged by.
func (g *guard) siteOf(r *http.Request) site {
	s := newSite(g.hostsOf(r).key(r))
	if g.sourceKey != "" {
		s.key, s.segment = policy.Key{Source: g.sourceKey}, policy.Named
	}
	return s
}

// hostsOf returns the hosts that the configuration names on the request's
// server.
func (g *guard) hostsOf(r *http.Request) *hosts {
	server, _ := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if last := g.lastHosts.Load(); last != nil && last.server == server {
		return last
	}
	known := g.app.hostsOf(server)
	g.lastHosts.Store(known)
	return known
}

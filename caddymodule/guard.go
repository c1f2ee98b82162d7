package caddymodule

import (
	"context"
	"net/http"
	"sync"
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
	sites     guardSites // for which it has judged
	gone      bool       // its configuration has ended; guarded by presences.mu
	servers   sync.Map   // *caddyhttp.Server to the *hosts of its configuration
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
	key := g.key(r)
	entry := g.state.cache.Get(key)
	client := g.app.registry.IdentifyWith(userAgent, overlayOf(g.app.registry, entry))
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
	j := &judgement{client: client, identity: who, proof: proof, site: g.site(r, key), target: targetOf(original)}
	switch {
	case isRobotsTxt(original):
		// never judged, and no reason to read it
	case g.exempt.has(j):
		j.verdict = verdictExempt
	default:
		g.ask(r, entry, j)
		if j.identity == identitySpoofed && g.spoofed == spoofedBlock && j.action == actionNone {
			j.liar = true
			g.act(j)
		}
	}
	return j
}

// key tells whose robots.txt a request is judged by.
func (g *guard) key(r *http.Request) policy.Key {
	if g.sourceKey != "" {
		return policy.Key{Source: g.sourceKey}
	}
	return keyOf(r)
}

// site returns the site of a request that is judged by key.
func (g *guard) site(r *http.Request, key policy.Key) site {
	own := key
	if g.sourceKey != "" {
		own = keyOf(r)
	}
	s := g.hostsOf(r).site(own, localPort(r))
	if g.sourceKey != "" {
		s.key, s.segment = key, policy.Named
	}
	return s
}

// hostsOf returns the hosts that the configuration names on the request's
// server.
func (g *guard) hostsOf(r *http.Request) *hosts {
	server, _ := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if known, ok := g.servers.Load(server); ok {
		return known.(*hosts)
	}
	known, _ := g.servers.LoadOrStore(server, hostsOf(server))
	return known.(*hosts)
}

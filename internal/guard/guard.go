package guard

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/identity"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/metrics"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Config is what a guard goes by.
type Config struct {
	Settings judge.Settings // what the site decides about who is judged and blocked
	// Source is where the robots.txt comes from. SourceKey is what sites with this
	// source share: its URL or path, "" for the site itself. With a [origin.HostPlaceholder]
	// in it hosts share nothing.
	Source    origin.Source
	SourceKey string
	// Shadow is where a text comes from that is tried, nil for none, and ShadowKey its
	// URL or path. ShadowLife is how long an answer holds that does not say so.
	Shadow     origin.Source
	ShadowKey  string
	ShadowLife time.Duration
	// Freshness, Fallback and FetchTimeout are for fetching it, FetchWait is how long
	// a crawler's request waits for that.
	Freshness    policy.Freshness
	Fallback     policy.Fallback
	FetchTimeout time.Duration
	FetchWait    time.Duration
	// Grace is how long a crawler may follow a text that was replaced, and
	// ChangeGuard how long that text stays in force after a change that shuts
	// search engines out; 0 for not at all.
	Grace       time.Duration
	ChangeGuard time.Duration
	// Rate is by what crawlers are held to how fast they may ask; nil if they are not.
	Rate *rate.Settings
	// ForwardAuth are the hosts that the configuration names for a guard that answers proxies
	// whether a request may pass; nil for a guard that requests pass through.
	ForwardAuth *request.Hosts
	// DefaultHost is the host whose robots.txt such a guard uses for hosts that no option
	// names; "" if each uses its own. A client that invents a host must not choose whose
	// robots.txt counts.
	DefaultHost string
	// AsksPath says that a matcher or a placeholder of the configuration asks for the
	// [PathVerdict] of requests; nil if none does. It does not change once requests come.
	AsksPath *bool

	Registry *uaident.Current  // what is known of crawlers
	Identity *identity.Checker // whether they are who they say
	Sites    *request.Sites    // which hosts the configuration names
	Events   *Events           // nil for none
	// Refuse answers a request that is blocked or slowed, or passes it on.
	Refuse func(w http.ResponseWriter, r *http.Request, j *Judgement, next caddyhttp.Handler) error
	Logger *zap.Logger // what the owner is told
}

// Guard judges requests, notes what it finds and passes them on.
type Guard struct {
	Config
	shared   *State
	eachHost bool                        // each host has a source of its own
	tried    tried                       // what its configuration tries
	Metrics  *metrics.Metrics            // the same as of the State
	sites    map[string]*policy.Key      // by label, for which it has judged; guarded by presences.mu
	gone     bool                        // its configuration has ended; guarded by presences.mu
	servers  sync.Map                    // *caddyhttp.Server to its *serverSites
	last     atomic.Pointer[serverSites] // of the server that was asked last
}

// New makes a guard that lasts as long as ctx, with what it shares with
// others.
func New(ctx context.Context, shared *State, c Config) *Guard {
	g := &Guard{Config: c, shared: shared, Metrics: shared.Metrics, eachHost: strings.Contains(c.SourceKey, origin.HostPlaceholder)}
	context.AfterFunc(ctx, g.leave)
	if g.ForwardAuth != nil {
		g.Sites.Add(g.ForwardAuth)
	}
	if g.ChangeGuard > 0 {
		g.shared.changes.Guarded(ctx)
	}
	if g.SourceKey != "" {
		g.shared.sources.add(ctx, policy.Key{Source: g.SourceKey}, g.standalone())
	}
	if g.Shadow != nil {
		g.tried = g.try(ctx)
	}
	if g.Events != nil && g.shared.Alerts != nil {
		g.shared.Alerts.Follow(ctx, g.tellParity)
	}
	return g
}

// Serve is the way of a request: [Guard.Judge] finds the site, identifies the client and judges,
// [Guard.Publish] observes the judgement, and respond passes the request on or answers it. A guard
// with ForwardAuth answers a proxy that asks about another request.
func (g *Guard) Serve(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if g.ForwardAuth != nil {
		return g.serveForwardAuth(w, r)
	}
	if origin.IsVirtual(r.Context()) {
		return serveOwnFetch(w, r, next)
	}
	j := g.Judge(r)
	if g.AsksPath != nil && *g.AsksPath {
		g.offerPath(r, j == nil && r.UserAgent() != "")
	}
	switch {
	case j == nil:
		clearPlaceholders(r)
	case j.published: // by an earlier guard, whose judgement is final
		return next.ServeHTTP(w, r)
	default:
		defer j.flight.end() // also where a handler panics
		g.Publish(r, j)
	}
	return g.respond(w, r, j, next)
}

// serveOwnFetch serves the guard's own fetch of a robots.txt, which is not judged and not logged.
func serveOwnFetch(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	caddyhttp.SetVar(r.Context(), caddyhttp.LogSkipVar, true)
	clearPlaceholders(r)
	return origin.Failed(r.Context(), next.ServeHTTP(w, r))
}

// respond passes a request on, or answers it if it is blocked or slowed. j is nil for a request
// that is not judged.
func (g *Guard) respond(w http.ResponseWriter, r *http.Request, j *Judgement, next caddyhttp.Handler) error {
	switch {
	case requestsRobots(r, j):
		return g.passRobots(w, r, j, next)
	case j == nil:
		return g.passVisitor(w, r, next)
	case j.Action != judge.Blocked && j.Action != judge.Slowed:
		return g.pass(w, r, j, next)
	case isTooEarly(r, j):
		w.WriteHeader(http.StatusTooEarly)
		return nil
	}
	return g.Refuse(w, r, j, next)
}

// requestsRobots reports whether a request is for the robots.txt, by its path before any rewrite.
// For the many requests that are not judged it compares the end of the rewritten path first,
// which takes less time.
func requestsRobots(r *http.Request, j *Judgement) bool {
	if j != nil {
		return j.Path == "/robots.txt"
	}
	return strings.HasSuffix(r.URL.Path, "/robots.txt") && request.IsRobotsTxt(request.OriginalRequest(r))
}

// Judge judges a request. It returns nil for a request that is not judged: of a browser, of a
// client without a User-Agent, of an ACME server, or made by a template. It does not allocate
// for browsers.
func (g *Guard) Judge(r *http.Request) *Judgement {
	userAgent := request.UserAgentOf(r)
	if userAgent == "" || request.HasNoPath(r) {
		return nil
	}
	var spelt request.Site // used where the configuration spells the host otherwise, or does not name it
	kept := g.namedSite(r)
	key := &spelt.Key
	if kept != nil {
		key = &kept.Key
	} else {
		spelt = g.otherSite(r)
	}
	client, entry, cached := g.identify(userAgent, kept, key)
	if client.Class == uaident.Browser {
		return nil
	}
	original := request.OriginalRequest(r)
	if request.IsACMEChallenge(original) || request.IsIncluded(r) {
		return nil
	}
	if before := g.earlierFinalJudgement(r); before != nil {
		return before
	}
	who, proof := g.Identity.Identify(r, client)
	j := newJudgement(kept, &spelt)
	j.Request = judge.Request{
		Client: client, Identity: who, Method: original.Method, Target: request.TargetOf(original), Path: original.URL.Path,
	}
	j.Proof = proof
	if signed, ok := identity.SignatureOf(r); ok {
		j.signature = signed.Reason.String()
	}
	if request.IsRobotsTxt(original) || g.Settings.Exempt.Has(client, who) {
		g.applyRules(j, nil, false) // the verdict does not depend on the rules
		return j
	}
	g.judgeBySite(r, j, entry, cached)
	return j
}

// siteOf returns the site that a request is for, and whose robots.txt it is
// judged by.
func (g *Guard) siteOf(r *http.Request) *request.Site {
	if kept := g.namedSite(r); kept != nil {
		return kept.Site
	}
	return new(g.otherSite(r))
}

// otherSite is siteOf for a host that need not be one of the configuration.
func (g *Guard) otherSite(r *http.Request) request.Site {
	site := request.NewSite(g.sitesOf(r).Key(r))
	if g.SourceKey == "" {
		return site // without the copies
	}
	return g.sourced(site)
}

// sourced returns a site with where its robots.txt comes from.
func (g *Guard) sourced(s request.Site) request.Site {
	switch {
	case g.SourceKey == "":
		return s
	case !g.eachHost:
		s.Segment = policy.Named
		return s.ReadAs(policy.Key{Source: g.SourceKey})
	}
	if s.Own().Site == "" && g.DefaultHost != "" {
		s.Segment = policy.Named
		return s.ReadAs(policy.Key{Source: origin.KeyFor(g.SourceKey, g.DefaultHost)})
	}
	return s.From(origin.KeyFor(g.SourceKey, s.Own().Host))
}

// hostsAt returns the hosts that the configuration names at a server.
func (g *Guard) hostsAt(server *caddyhttp.Server) *request.Hosts {
	if g.ForwardAuth != nil {
		return g.ForwardAuth
	}
	return g.Sites.Of(server)
}

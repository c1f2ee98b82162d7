package guard

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/identity"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Config has the settings of a guard.
type Config struct {
	Settings judge.Settings // These are the settings for the judgement of requests.
	// Source fetches the robots.txt. SourceKey identifies the source: its URL or path, "" for the site
	// itself. With an [site.HostPlaceholder] in SourceKey, each host has its own file.
	Source    site.Source
	SourceKey string
	// Shadow fetches the robots.txt on trial, nil for none. ShadowKey is its URL or path. ShadowLife
	// is the time for which a fetched file is used if its response has no freshness lifetime.
	Shadow     site.Source
	ShadowKey  string
	ShadowLife time.Duration
	// These are settings of fetches. FetchWait is the time for which a crawler's request waits for a
	// fetch.
	Freshness    policy.FreshnessPolicy
	Fallback     policy.Fallback
	FetchTimeout time.Duration
	FetchWait    time.Duration
	// Grace is the time for which a crawler may follow a replaced version. ChangeGuardTime is the time
	// for which the change guard keeps a replaced version in force if the new version shuts out search
	// engines. 0 turns either off.
	Grace           time.Duration
	ChangeGuardTime time.Duration
	// Rate has the rate limits, nil for none.
	Rate *rate.Settings
	// ForwardAuth has the hosts of a guard with the option decide, which answers other proxies. It
	// is nil for a guard through which the requests pass.
	ForwardAuth *site.Hosts
	// DefaultHost is the host whose robots.txt a guard with decide uses for unknown hosts, "" if
	// each host uses its own. A client that invents a host must not select the robots.txt.
	DefaultHost string
	// UsesPathVerdict points to true if a matcher or placeholder uses the [PathVerdict]; nil means
	// false. The value does not change after the configuration has started.
	UsesPathVerdict *bool

	Registry *uaident.CurrentRegistry // Registry is the registry of crawlers.
	Identity *identity.Checker        // Identity verifies the identity of crawlers.
	Sites    *site.Sites              // Sites has the configured hosts of all servers.
	Events   *Events                  // Events is nil if no events are emitted.
	// RespondRefused responds to a blocked or slowed request, or passes the request on. next is nil
	// for a guard with ForwardAuth.
	RespondRefused func(w http.ResponseWriter, r *http.Request, j *Judgement, next caddyhttp.Handler) error
	Logger         *zap.Logger // Logger logs messages for the site owner.
}

// Guard judges the requests of one handler and blocks or passes them on.
type Guard struct {
	Config
	state            *State
	serialNumber     int64       // serialNumber is the number of guards up to this guard.
	hasSourcePerHost bool        // hasSourcePerHost is true if each host has a source of its own.
	configuredTrial  robotsTrial // configuredTrial is the trial of the configured file.
	// This is the label of the first judged site, for siteForSource. It is nil before a judgement.
	firstJudgedLabel atomic.Pointer[string]
}

// New returns a guard for a configuration. The guard ends with ctx. shared survives a reload.
func New(ctx context.Context, shared *State, c Config) *Guard {
	g := &Guard{Config: c, state: shared, hasSourcePerHost: strings.Contains(c.SourceKey, site.HostPlaceholder)}
	g.serialNumber = g.state.guards.Add(1)
	if g.ForwardAuth != nil {
		g.Sites.AddHosts(g.ForwardAuth)
	}
	if g.ChangeGuardTime > 0 {
		g.state.changeGuard.AddUser(ctx)
	}
	if g.SourceKey != "" {
		g.state.sources.add(ctx, g)
	}
	if g.Shadow != nil {
		g.configuredTrial = g.startConfiguredTrial(ctx)
	}
	return g
}

// Serve handles a request. Judge identifies the client, finds the site and applies the rules.
// [Guard.Announce] records the judgement, and respond passes the request on or responds. A guard with
// ForwardAuth answers a proxy about another request.
//
// Several guards may handle one request, in two cases:
//   - Of guards in sequence, each judges the request. The rate limits of the client are charged only
//     once, see removeChargedLimits.
//   - A guard inside on_violation or handle_errors runs after an earlier guard has decided. The earlier
//     judgement stands, see standingJudgement, and this guard only passes the request on.
func (g *Guard) Serve(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if g.ForwardAuth != nil {
		return g.serveForwardAuth(w, r)
	}
	if site.IsGuardRequest(r.Context()) {
		return serveOwnFetch(w, r, next)
	}
	j := g.Judge(r)
	isFinal := j != nil && j.isAnnounced // An earlier guard has announced the judgement.
	if j != nil && !isFinal {
		defer j.resources.release() // This also runs after a panic of a handler.
		g.Announce(r, j)
	}
	switch {
	case g.UsesPathVerdict != nil && *g.UsesPathVerdict:
		g.offerPathVerdict(r, g.namedSite(r))
	case j == nil:
		clearPlaceholders(r)
	}
	if isFinal {
		return next.ServeHTTP(w, r)
	}
	return g.respond(w, r, j, next)
}

// serveOwnFetch serves a request that the guard itself makes to fetch the robots.txt. It makes no
// judgement and no access log line.
func serveOwnFetch(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	caddyhttp.SetVar(r.Context(), caddyhttp.LogSkipVar, true)
	clearPlaceholders(r)
	return site.RecordHandlerError(r.Context(), next.ServeHTTP(w, r))
}

// respond passes a request on, or responds if the request is blocked or slowed. j is nil for a
// request without a judgement.
func (g *Guard) respond(w http.ResponseWriter, r *http.Request, j *Judgement, next caddyhttp.Handler) error {
	switch {
	case isRobotsRequest(r, j):
		return g.passRobotsRequest(w, r, j, next)
	case j == nil:
		return g.passBrowserRequest(w, r, next)
	case j.Action != judge.Blocked && j.Action != judge.Slowed:
		return g.passUnblockedRequest(w, r, j, next)
	case isTooEarly(r, j):
		w.WriteHeader(http.StatusTooEarly)
		return nil
	}
	return g.RespondRefused(w, r, j, next)
}

// isRobotsRequest reports whether a request is for robots.txt, by the path before any rewrite. For
// requests without a judgement, isRobotsRequest first compares the end of the rewritten path, which
// is faster.
func isRobotsRequest(r *http.Request, j *Judgement) bool {
	if j != nil {
		return j.Path == "/robots.txt"
	}
	return strings.HasSuffix(r.URL.Path, "/robots.txt") && site.IsRobotsTxt(site.OriginalRequest(r))
}

// Judge applies the rules to a request. It may start a fetch. It charges the rate limits and
// records the copy, the holds and the trial, but it does not announce the judgement. If the
// judgement of an earlier guard stands, Judge returns that one. Judge returns nil for requests of
// browsers, from templates, without a User-Agent or a path, and for ACME challenges. It does not
// allocate for browsers.
func (g *Guard) Judge(r *http.Request) *Judgement {
	userAgent := site.RequestUserAgent(r)
	if userAgent == "" || site.HasNoPath(r) {
		return nil
	}
	// The crawler names in a robots.txt are part of the identification of all clients but plain
	// browsers. The lookup repeats the identification if it finds another version than this cached one.
	registry := g.Registry.Load()
	var configured *site.Site
	var other site.Site // This is the site if namedSite does not know the host.
	var entry *policy.Entry
	var cached *policy.State
	client := g.Settings.IdentifyWithLazyNames(registry, userAgent, func() *uaident.Overlay {
		key := &other.Key
		if configured = g.namedSite(r); configured != nil {
			key = &configured.Key
		} else {
			other = g.siteByHost(r)
		}
		if entry = g.state.Cache.Get(*key); entry != nil {
			cached = entry.State()
		}
		return overlayForState(registry, cached)
	})
	if client.Class == uaident.Browser {
		return nil
	}
	// The function above was called, because the client is not a browser.
	original := site.OriginalRequest(r)
	if site.IsACMEChallenge(original) || site.IsTemplateInclude(r) {
		return nil
	}
	if before := g.standingJudgement(r); before != nil {
		return before
	}
	verification, proof := g.Identity.VerifyClient(r, client)
	j := newJudgement(configured, &other)
	j.userAgent = userAgent
	j.Request = judge.Request{
		Client: client, Verification: verification, Method: original.Method, Target: site.RequestTarget(original), Path: original.URL.Path,
	}
	j.VerifiedBy = proof
	if signed, ok := identity.SignatureResult(r); ok {
		j.signature = signed.Reason.String()
	}
	if site.IsRobotsTxt(original) || g.Settings.Exempt.Matches(client, verification) {
		g.judgeByVersion(j, nil, false) // The verdict does not depend on the rules.
		return j
	}
	g.judgeBySite(r, j, entry, cached)
	return j
}

// namedSite returns the site of a request whose host is spelled as configured. namedSite returns
// nil for other hosts, and for a guard with a source.
func (g *Guard) namedSite(r *http.Request) *site.Site {
	if g.SourceKey != "" {
		return nil
	}
	return g.hostsOfServer(r).CachedSite(r)
}

// hostsOfServer returns the configured hosts of the request's server.
func (g *Guard) hostsOfServer(r *http.Request) *site.Hosts {
	server, _ := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	return g.configuredHosts(server)
}

// siteForRequest returns the site of a request.
func (g *Guard) siteForRequest(r *http.Request) *site.Site {
	if configured := g.namedSite(r); configured != nil {
		return configured
	}
	return new(g.siteByHost(r))
}

// siteByHost returns the site of a request for which namedSite returns nil.
func (g *Guard) siteByHost(r *http.Request) site.Site {
	return g.withSourceKey(site.NewSite(g.hostsOfServer(r).KeyForRequest(r)))
}

// withSourceKey returns the site with the key of the guard's source, or unchanged if the guard has
// no source.
func (g *Guard) withSourceKey(s site.Site) site.Site {
	switch {
	case g.SourceKey == "":
		return s
	case !g.hasSourcePerHost:
		s.CacheSegment = policy.ConfiguredHosts
		return s.WithRobotsKey(policy.Key{Source: g.SourceKey})
	}
	if s.OwnKey().Site == "" && g.DefaultHost != "" {
		s.CacheSegment = policy.ConfiguredHosts
		return s.WithRobotsKey(policy.Key{Source: site.KeyForHost(g.SourceKey, g.DefaultHost)})
	}
	return s.WithSource(site.KeyForHost(g.SourceKey, s.OwnKey().Host))
}

// configuredHosts returns the configured hosts of a server.
func (g *Guard) configuredHosts(server *caddyhttp.Server) *site.Hosts {
	if g.ForwardAuth != nil {
		return g.ForwardAuth
	}
	return g.Sites.HostsOfServer(server)
}

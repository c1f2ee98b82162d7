package guard

import (
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// PathVerdict says whether a site's robots.txt disallows a URL, independent of the client that
// requests it.
type PathVerdict uint8

// These are the path verdicts.
const (
	PathUnknown PathVerdict = iota // No robots.txt is known, or the request has no path.
	PathAllowed
	PathDisallowed
)

// String returns the word for v in placeholders and header fields.
func (v PathVerdict) String() string {
	return [...]string{"unknown", "allowed", "disallowed"}[v]
}

// Everybody is the token for crawlers without a group of their own.
const Everybody = "*"

// PathPlaceholder is the placeholder with the [PathVerdict] for Everybody.
const PathPlaceholder = placeholderPrefix + "path"

// PathVerdictOf returns the verdict about the URL of a request for a product token or Everybody.
// PathVerdictOf returns PathUnknown unless the request has passed a guard with
// Config.UsesPathVerdict. It counts a browser's request for a URL disallowed to Everybody once, by
// site only.
func PathVerdictOf(r *http.Request, token string) PathVerdict {
	offer, ok := caddyhttp.GetVar(r.Context(), offerVar).(*pathVerdictSource)
	if !ok {
		return PathUnknown
	}
	v := offer.guard.pathVerdict(r, offer.configured, token)
	if v == PathDisallowed && token == Everybody && caddyhttp.GetVar(r.Context(), countedVar) == nil {
		caddyhttp.SetVar(r.Context(), countedVar, true)
		if earlier, _ := caddyhttp.GetVar(r.Context(), Var).(*Judgement); earlier == nil {
			offer.guard.countBrowserOnDisallowed(r)
		}
	}
	return v
}

// pathVerdictSource is the guard and the site that compute the path verdicts for later matchers and
// placeholders of a request.
type pathVerdictSource struct {
	guard      *Guard
	configured *site.Site // configured is the result of namedSite.
}

// These request variables have the pathVerdictSource, and whether the ledger has the request.
const (
	offerVar   = "robots_guard.path"
	countedVar = "robots_guard.path_counted"
)

// offerPathVerdict lets later matchers and placeholders of the request compute its path verdict. It
// also makes the other placeholders empty for a request without a judgement. configured is the
// result of namedSite.
func (g *Guard) offerPathVerdict(r *http.Request, configured *site.Site) {
	caddyhttp.SetVar(r.Context(), offerVar, &pathVerdictSource{g, configured})
	if repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		repl.Map(func(key string) (any, bool) {
			if key == PathPlaceholder {
				return PathVerdictOf(r, Everybody).String(), true
			}
			return emptyPlaceholder(key) // A judgement has set its placeholders already.
		})
	}
}

// countBrowserOnDisallowed counts a browser's request for a URL disallowed to Everybody, by site.
func (g *Guard) countBrowserOnDisallowed(r *http.Request) {
	if site.RequestUserAgent(r) != "" {
		g.state.Ledger.RecordVisitToDisallowed(g.siteForRequest(r).Label, time.Now())
	}
}

// pathVerdict returns the verdict of the site's current robots.txt about the URL of a request, for
// the crawler with a product token or for Everybody. pathVerdict ignores the client of the request
// and records nothing. /robots.txt, the targets of its redirects, paths below /.well-known/ and
// includes of templates are allowed. configured is the result of namedSite.
func (g *Guard) pathVerdict(r *http.Request, configured *site.Site, token string) PathVerdict {
	if site.HasNoPath(r) {
		return PathUnknown
	}
	s, now := configured, time.Now()
	if s == nil {
		s = new(g.siteByHost(r))
	}
	state := g.cachedStateForPath(r, s, now)
	version, _ := currentVersion(state, now, g.Fallback)
	if version == nil {
		return PathUnknown
	}
	original := site.OriginalRequest(r)
	sent := site.RequestTarget(original)
	if !judge.DisallowsPath(version.Robots, token, sent, original.URL.Path, g.Settings.KeepSlashes) || site.IsTemplateInclude(r) ||
		judge.IsRedirectTarget(state.RedirectTargets, sent) || g.isOtherSitesRedirectTarget(s, sent) {
		return PathAllowed
	}
	return PathDisallowed
}

// cachedStateForPath returns the cached state of a site's robots.txt, or nil, without waiting for a
// fetch. It starts a background fetch if the file is due, except for unknown hosts.
func (g *Guard) cachedStateForPath(r *http.Request, s *site.Site, now time.Time) *policy.State {
	entry := g.state.Cache.Get(s.Key)
	if s.CacheSegment == policy.ConfiguredHosts {
		if entry == nil {
			entry = g.getOrCreateEntry(s)
		}
		if entry.IsDue(now) {
			entry.Touch(now)
			g.fetchAndWait(r, entry, s, time.Time{})
		}
	}
	if entry == nil {
		return nil
	}
	return entry.State()
}

package guard

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// PathVerdict is the verdict of a site's robots.txt about a URL, for any client.
type PathVerdict uint8

// Path verdicts.
const (
	PathUnknown PathVerdict = iota // no robots.txt is known, or the request has no path
	PathAllowed
	PathDisallowed
)

// String returns the value of placeholders and header fields.
func (v PathVerdict) String() string {
	return [...]string{"unknown", "allowed", "disallowed"}[v]
}

// Everybody is the token for crawlers that no group names.
const Everybody = "*"

// PathPlaceholder is the placeholder with the [PathVerdict] for Everybody.
const PathPlaceholder = placeholderPrefix + "path"

// PathOf returns the verdict about the URL of a request after a guard with Config.AsksPath, else
// PathUnknown.
func PathOf(r *http.Request, token string) PathVerdict {
	offer, ok := caddyhttp.GetVar(r.Context(), offerVar).(*pathOffer)
	if !ok {
		return PathUnknown
	}
	return offer.verdict(r, token)
}

// pathOffer computes path verdicts for later matchers and placeholders of a request.
type pathOffer struct {
	guard   *Guard
	request *http.Request // at the guard, for placeholders
	kept    *keptSite     // of the request, nil if namedSite does not know the host
	person  bool          // a browser sends the request
	counted atomic.Bool
}

// offerVar is the request variable with the pathOffer.
const offerVar = "robots_guard.path"

// offerPath makes the path verdict available to later handlers, and makes the other placeholders empty
// unless the request has a judgement. kept is the result of namedSite. person means that a browser sends
// the request.
func (g *Guard) offerPath(r *http.Request, kept *keptSite, person bool) {
	offer := &pathOffer{guard: g, request: r, kept: kept, person: person}
	caddyhttp.SetVar(r.Context(), offerVar, offer)
	if repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		repl.Map(offer.placeholder)
	}
}

// placeholder implements caddy.ReplacerFunc. The placeholders of a judgement come before it.
func (o *pathOffer) placeholder(key string) (any, bool) {
	if key == PathPlaceholder {
		return o.verdict(o.request, Everybody).String(), true
	}
	return emptyPlaceholder(key)
}

// verdict returns the verdict. It counts a browser's request for a URL that is disallowed to Everybody
// once, by site only.
func (o *pathOffer) verdict(r *http.Request, token string) PathVerdict {
	v := o.guard.pathVerdict(r, o.kept, token)
	if v == PathDisallowed && o.person && token == Everybody && o.guard.shared.Ledger != nil && o.counted.CompareAndSwap(false, true) {
		o.guard.shared.Ledger.RecordOnDisallowed(o.guard.siteOf(r).Label, time.Now())
	}
	return v
}

// PathVerdict returns the verdict of the site's current robots.txt about the URL of a request, for the
// crawler with a product token or for Everybody. The client of the request plays no part, and nothing is
// counted. /robots.txt, paths below /.well-known/ and includes of templates are allowed. PathVerdict
// does not wait: for configured hosts, it starts a background fetch if the file is due.
func (g *Guard) PathVerdict(r *http.Request, token string) PathVerdict {
	return g.pathVerdict(r, g.namedSite(r), token)
}

// pathVerdict is PathVerdict with the result of namedSite.
func (g *Guard) pathVerdict(r *http.Request, kept *keptSite, token string) PathVerdict {
	if site.HasNoPath(r) {
		return PathUnknown
	}
	robots := g.currentRobots(r, kept, time.Now())
	if robots == nil {
		return PathUnknown
	}
	original := site.OriginalRequest(r)
	var target policy.Target
	if judge.DisallowsPath(robots, token, site.TargetOf(original), original.URL.Path, g.Settings.KeepSlashes, &target) && !site.IsIncluded(r) {
		return PathDisallowed
	}
	return PathAllowed
}

// currentRobots returns the robots.txt in force at the site of a request, or nil, and starts a fetch if
// it is due. kept is the result of namedSite.
func (g *Guard) currentRobots(r *http.Request, kept *keptSite, now time.Time) *policy.Robots {
	var site *site.Site
	if kept != nil {
		site = kept.Site
	} else {
		site = new(g.otherSite(r))
	}
	entry := g.entryOf(kept, &site.Key)
	if site.Segment == policy.ConfiguredHosts {
		if entry == nil {
			entry = g.entryFor(site)
		}
		if entry.IsDue(now) {
			entry.Touch(now)
			if refresh, ok := g.refresher(r, entry, site); ok {
				refresh()
			}
		}
	}
	if entry == nil {
		return nil
	}
	version, _ := inForce(entry.State(), now, g.Fallback)
	if version == nil {
		return nil
	}
	return version.Robots
}

package guard

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// PathVerdict is what the robots.txt of a site says about a URL, whoever asks for it.
type PathVerdict uint8

// The verdicts about a path.
const (
	PathUnknown PathVerdict = iota // the robots.txt is not known, or the request is for no path
	PathAllowed
	PathDisallowed
)

// String returns the verdict as placeholders and header fields have it.
func (v PathVerdict) String() string {
	return [...]string{"unknown", "allowed", "disallowed"}[v]
}

// Everybody is the token by which [Guard.PathVerdict] judges for a crawler that no group names.
const Everybody = "*"

// PathPlaceholder is the name of the placeholder of the [PathVerdict] for Everybody.
const PathPlaceholder = placeholderPrefix + "path"

// PathOf returns the verdict about the URL of a request that has come through a guard of a
// configuration in which somebody asks for it; PathUnknown otherwise.
func PathOf(r *http.Request, token string) PathVerdict {
	offer, ok := caddyhttp.GetVar(r.Context(), offerVar).(*pathOffer)
	if !ok {
		return PathUnknown
	}
	return offer.verdict(r, token)
}

// pathOffer answers the matchers and placeholders behind a guard that ask about the path of a
// request.
type pathOffer struct {
	guard   *Guard
	person  bool // a browser sends the request
	counted atomic.Bool
}

// offerVar is the request variable in which PathOf finds a pathOffer.
const offerVar = "robots_guard.path"

// offerPath lets the matchers and placeholders behind the guard ask for the verdict about the
// path. person says that a browser sends the request.
func (g *Guard) offerPath(r *http.Request, person bool) {
	offer := &pathOffer{guard: g, person: person}
	caddyhttp.SetVar(r.Context(), offerVar, offer)
	if repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		repl.Map(func(key string) (any, bool) {
			if key != PathPlaceholder {
				return nil, false
			}
			return offer.verdict(r, Everybody).String(), true
		})
	}
}

// verdict returns the verdict. That a browser asks for what is disallowed to everybody is counted
// once for each request, by the site alone.
func (o *pathOffer) verdict(r *http.Request, token string) PathVerdict {
	v := o.guard.PathVerdict(r, token)
	if v == PathDisallowed && o.person && token == Everybody && o.guard.shared.Ledger != nil && o.counted.CompareAndSwap(false, true) {
		o.guard.shared.Ledger.RecordOnDisallowed(o.guard.siteOf(r).Label, time.Now())
	}
	return v
}

// PathVerdict tells whether the current robots.txt of the site disallows the URL of a request to
// a crawler with a product token, or to all that no group names. Who sends the request plays no
// part, and nothing is counted. /robots.txt, what is below /.well-known/ and what a template
// includes are allowed. PathVerdict does not wait: a file that is due is fetched in the
// background, for hosts that the configuration names only.
func (g *Guard) PathVerdict(r *http.Request, token string) PathVerdict {
	if request.HasNoPath(r) {
		return PathUnknown
	}
	robots := g.currentRobots(r, time.Now())
	if robots == nil {
		return PathUnknown
	}
	original := request.OriginalRequest(r)
	var target policy.Target
	if judge.DisallowsPath(robots, token, request.TargetOf(original), original.URL.Path, g.Settings.KeepSlashes, &target) && !request.IsIncluded(r) {
		return PathDisallowed
	}
	return PathAllowed
}

// currentRobots returns the robots.txt in force at the site of a request, nil if it is not known,
// and begins to fetch it if it is due.
func (g *Guard) currentRobots(r *http.Request, now time.Time) *policy.Robots {
	kept := g.namedSite(r)
	var site *request.Site
	if kept != nil {
		site = kept.Site
	} else {
		site = new(g.otherSite(r))
	}
	entry := g.entryOf(kept, &site.Key)
	if site.Segment == policy.Named {
		if entry == nil {
			entry = g.entryFor(site)
		}
		if entry.Due(now) {
			entry.Use(now)
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

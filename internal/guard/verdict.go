package guard

import (
	"net/http"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// judgeBySite applies the robots.txt of the site. entry is the site's cache entry, or nil, and cached
// is its state at the identification of the client. Each judgement uses one version, and is repeated by
// a newer version in these cases:
//   - The request is disallowed, or slowed by a Crawl-delay. The crawler may know a newer version, so the
//     file is fetched again before the response.
//   - The request is stale and passes anyway, so only a version that another request has fetched counts.
func (g *Guard) judgeBySite(r *http.Request, j *Judgement, entry *policy.Entry, cached *policy.State) {
	l := g.lookUpRobots(r, j, entry, cached)
	g.judgeByCopy(&l)
	if j.Verdict == judge.Disallowed && g.refetchAndSwitchVersion(&l) || j.Verdict == judge.Stale && g.switchToNewerVersion(&l) {
		g.judgeByCopy(&l)
	}
	g.chargeRate(r, j, l.state, l.now)
	// The new version may have no Crawl-delay.
	if j.Rate.State == rate.SlowedDown && !j.Rate.IsOverLimit && g.refetchAndSwitchVersion(&l) {
		j.Rate = Rate{}
		j.resources.releaseSlot()
		g.judgeByCopy(&l)
		g.chargeRate(r, j, l.state, l.now)
	}
}

// judgeByCopy judges the request by the current version, and also by the file on trial. A
// disallowed request is stale if the crawler may be using another file that allows the request.
func (g *Guard) judgeByCopy(l *robotsLookup) {
	r, j, state := l.r, l.j, l.state
	j.allowedByHold = false
	if state != nil {
		j.redirectTargets = state.RedirectTargets
	}
	ours, closed := currentVersion(state, l.now, g.Fallback)
	g.judgeByVersion(j, ours, closed)
	if j.Verdict == judge.Disallowed && g.isOtherSitesRedirectTarget(j.Site, j.Target) {
		j.redirectTargets = []string{j.Target}
		g.judgeByVersion(j, ours, closed)
	}
	// The trial judges each request only once.
	if t := g.trialForSite(j.Site); t.File != nil && ours != nil && !l.isSecondPass {
		g.judgeTrial(r, j, t, l.now)
	}
	if ours == nil || j.Verdict != judge.Disallowed {
		return
	}
	switch {
	case g.updateAndCheckHolds(r, state, j):
		g.Settings.MarkStale(&j.Request, &j.Result)
		j.allowedByHold = true
	case g.mayUseAllowingVersion(r, j, state, l.now):
		g.Settings.MarkStale(&j.Request, &j.Result)
	}
}

// judgeByVersion judges the request by a version, or nil if no version is known, and sets the version
// and the result of j. closed is true if an unreachable robots.txt closes the site to crawlers.
func (g *Guard) judgeByVersion(j *Judgement, version *policy.Version, closed bool) {
	rules := judge.Rules{RedirectTargets: j.redirectTargets, DisallowAll: closed}
	if j.Version = version; version != nil {
		rules.Robots = version.Robots
	}
	var scratch judge.Scratch
	g.Settings.Judge(&j.Request, rules, &scratch, &j.Result)
}

// versionAllows reports whether a version of the robots.txt allows a request. The client is
// identified by the names in this version.
func (g *Guard) versionAllows(r *http.Request, j *Judgement, version *policy.Version) bool {
	var scratch judge.Scratch
	var result judge.Result
	q := g.reidentifyExceptAsBrowser(r, j, version)
	g.Settings.Judge(&q, judge.Rules{Robots: version.Robots}, &scratch, &result)
	return result.Verdict != judge.Disallowed
}

// cachedOrStoredRobots returns the robots.txt of a site, or nil. Without a cached robots.txt, it
// returns our last copy for the host, which an earlier configuration may have cached under another
// key.
func (g *Guard) cachedOrStoredRobots(r *http.Request, j *Judgement, cached *policy.State) *policy.Robots {
	switch {
	case cached == nil:
		return g.state.Copies.CurrentCopy(g.newRequestHost(r, j.Site).Host)
	case cached.Current == nil:
		return nil
	}
	return cached.Current.Robots
}

// robotsNamesClient reports whether a robots.txt, which may be nil, has a group that names a
// client.
func robotsNamesClient(client uaident.Identity, robots *policy.Robots) bool {
	if robots == nil {
		return false
	}
	var names [8]string
	q := judge.Request{Client: client}
	_, named, _ := q.GroupQuery(names[:0], false).Group(robots)
	return named
}

// currentVersion returns the current version of a cached state, or nil if no rules are known or may
// be used. During a hold of the change guard, an earlier version is in force, too. closed is true
// if the robots.txt is unreachable and this closes the site to crawlers.
func currentVersion(state *policy.State, now time.Time, fallback policy.Fallback) (version *policy.Version, closed bool) {
	if state == nil {
		return nil, false
	}
	robots, closed := state.EffectiveRules(now, fallback)
	if robots == nil {
		return nil, closed
	}
	return state.Current, false
}

// gracePeriod returns the time for which the crawler may follow a replaced version. A longer time
// documented by the crawler's operator does not count for a spoofed name.
func (g *Guard) gracePeriod(j *Judgement) time.Duration {
	if j.Verification == verify.Spoofed {
		return g.Grace
	}
	return judge.GracePeriod(j.Client, g.Grace)
}

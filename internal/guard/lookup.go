package guard

import (
	"net/http"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// robotsLookup is the search for the robots.txt that applies to one request.
type robotsLookup struct {
	r     *http.Request
	j     *Judgement
	entry *policy.Entry // entry is the cache entry of the site.
	state *policy.State // state is the state of the robots.txt. It is nil before the first fetch.
	// The names in this state identified the client. It is nil if only the registry was used.
	identifiedBy   *policy.State
	now, waitUntil time.Time // These are the time of the request, and the end of its wait for a fetch.
	mayWait        bool      // mayWait is true if the request may wait for a fetch.
	isSecondPass   bool      // isSecondPass is true if the judgement is repeated by a newer version.
}

// lookUpRobots finds the robots.txt for the judgement's site and starts a fetch if the file is due.
// entry and cached are the arguments of judgeBySite.
func (g *Guard) lookUpRobots(r *http.Request, j *Judgement, entry *policy.Entry, cached *policy.State) robotsLookup {
	now := time.Now()
	l := robotsLookup{r: r, j: j, entry: entry, identifiedBy: cached, now: now, waitUntil: now.Add(g.FetchWait)}
	l.mayWait = j.Client.Class.IsCrawler() || robotsNamesClient(j.Client, g.cachedOrStoredRobots(r, j, cached))
	if l.mayWait && (entry == nil || g.state.Memory.IsFirstReadPending()) {
		g.state.awaitStoredData(r, g.FetchWait)
		l.now = time.Now()
	}
	j.judgedAt = l.now
	if entry == nil {
		l.entry = g.getOrCreateEntry(j.Site)
	}
	l.entry.Touch(l.now)
	g.state.Metrics.CountCacheLookup(l.entry.State() != nil)
	g.fetchIfDue(&l)
	g.identifyByCurrentNames(&l)
	return l
}

// fetchIfDue starts a fetch if the robots.txt is due, and then uses the entry's state. The request
// waits for the fetch only if it may wait and the cached state does not suffice, see
// canJudgeWithoutFetch.
func (g *Guard) fetchIfDue(l *robotsLookup) {
	if !l.entry.IsDue(l.now) {
		l.state = l.entry.State() // A fetch may have ended since the client was identified.
		return
	}
	var until time.Time
	if l.mayWait && !g.canJudgeWithoutFetch(l.entry.State(), l.now) {
		until = l.waitUntil
	}
	g.fetchAndWait(l.r, l.entry, l.j.Site, until)
	l.state = l.entry.State()
}

// canJudgeWithoutFetch reports whether a cached state suffices to judge a request. It does not suffice
// without an unexpired file, and if an unreachable robots.txt closes the site.
func (g *Guard) canJudgeWithoutFetch(state *policy.State, now time.Time) bool {
	if state == nil || state.IsExpired(now) {
		return false
	}
	_, closed := state.EffectiveRules(now, g.Fallback)
	return !closed
}

// refetchAndSwitchVersion fetches the robots.txt again for a crawler about to be blocked or slowed,
// and then does the same as switchToNewerVersion. The crawler may have fetched a newer version
// without passing this guard. A spoofed client causes no fetch.
func (g *Guard) refetchAndSwitchVersion(l *robotsLookup) bool {
	if l.state == nil || l.state.Current == nil || l.j.Verification == verify.Spoofed {
		return false
	}
	g.refetchBeforeRefusal(l)
	return g.switchToNewerVersion(l)
}

// switchToNewerVersion makes the lookup use the cached version, which another request may have
// fetched. switchToNewerVersion reports whether this version differs from the version of the last
// judgement.
func (g *Guard) switchToNewerVersion(l *robotsLookup) bool {
	if l.state == nil || l.state.Current == nil {
		return false
	}
	newer := l.entry.State() // Another request may have fetched the file.
	if newer == nil || newer.Current == nil || newer.Current.Hash == l.state.Current.Hash && slices.Equal(newer.RedirectTargets, l.state.RedirectTargets) {
		return false
	}
	l.state, l.isSecondPass = newer, true
	g.identifyByCurrentNames(l)
	return true
}

// refetchBeforeRefusal fetches the robots.txt if the guard's copy is at least as old as
// [Guard.minAgeForRefetch], or if the site has served another file to a client. After a failed
// fetch, it fetches only a robots.txt that is due.
func (g *Guard) refetchBeforeRefusal(l *robotsLookup) {
	if !l.entry.IsPossiblyChanged() && l.now.Sub(l.state.Current.LastFetched) < g.minAgeForRefetch(l.j.Site.Key) {
		return
	}
	var until time.Time
	if l.mayWait {
		until = l.waitUntil
	}
	// An entry that is due is fetched below, or is being fetched already. After a failure, the time of
	// the next attempt stands. Otherwise the mark makes the entry due.
	if !l.entry.IsDue(l.now) && l.entry.State().FailureCount == 0 && !l.entry.IsPossiblyChanged() {
		l.entry.MarkPossiblyChanged(l.now)
	}
	g.fetchAndWait(l.r, l.entry, l.j.Site, until)
}

// fileInterval is the minimum time between reads of a file before blocks.
const fileInterval = 10 * time.Second

// minAgeForRefetch returns the age from which a copy is fetched again before a block. It is shorter
// for a local file, since reading is cheap and only a read shows an edit.
func (g *Guard) minAgeForRefetch(key policy.Key) time.Duration {
	if key.IsFile() {
		return fileInterval
	}
	return max(g.Freshness.Min, time.Minute)
}

// identifyByCurrentNames identifies the client again if the robots.txt has other crawler names than
// the file that identified the client. It keeps the identity of a client that would become a
// browser, because a browser has no judgement.
func (g *Guard) identifyByCurrentNames(l *robotsLookup) {
	before, current := l.identifiedBy, l.state
	if current == before || current == nil || current.Current == nil || before != nil && before.Current == current.Current {
		return
	}
	registry := g.Registry.Load()
	names := overlayForState(registry, current)
	if names == overlayForState(registry, before) {
		l.identifiedBy = current
		return
	}
	client := g.Settings.Identify(registry, site.RequestUserAgent(l.r), names)
	if client.Class == uaident.Browser {
		return
	}
	l.j.Client, l.identifiedBy = client, current
	l.j.Verification, l.j.VerifiedBy = g.Identity.VerifyClient(l.r, client)
}

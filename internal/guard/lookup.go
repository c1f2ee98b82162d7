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

// robotsLookup has the state of finding the robots.txt for one request.
type robotsLookup struct {
	r              *http.Request
	j              *Judgement
	entry          *policy.Entry // of the site
	state          *policy.State // of the robots.txt, nil before the first fetch
	identifiedBy   *policy.State // whose names identified the client, nil for the registry alone
	now, waitUntil time.Time     // time of the request, and the end of its wait for a fetch
	mayWait        bool          // whether the request may wait
	isSecondPass   bool          // a repeated judgement, by a newer version
}

// lookUp finds the robots.txt of the judgement's site and fetches the file if due. entry and cached
// are the results of identify.
func (g *Guard) lookUp(r *http.Request, j *Judgement, entry *policy.Entry, cached *policy.State) robotsLookup {
	now := time.Now()
	l := robotsLookup{r: r, j: j, entry: entry, identifiedBy: cached, now: now, waitUntil: now.Add(g.FetchWait)}
	l.mayWait = j.Client.Class.IsCrawler() || isNamedIn(j.Client, g.knownRobots(r, j, cached))
	if l.mayWait && (entry == nil || g.state.Memory.IsFirstReadPending()) {
		g.state.awaitStored(r, g.FetchWait)
		l.now = time.Now()
	}
	j.judgedAt = l.now
	if entry == nil {
		l.entry = g.getOrCreateEntry(j.Site)
	}
	l.entry.Touch(l.now)
	g.Metrics.CountCacheLookup(l.entry.State() != nil)
	g.fetchDue(&l)
	g.identifyAgain(&l)
	return l
}

// fetchDue starts a fetch if the robots.txt is due. A request that may wait does so without a
// usable copy, and if an unreachable robots.txt closes the site.
func (g *Guard) fetchDue(l *robotsLookup) {
	if !l.entry.IsDue(l.now) {
		l.state = l.entry.State() // a fetch may have ended since identify
		return
	}
	var until time.Time
	if l.mayWait && !g.isUsable(l.entry.State(), l.now) {
		until = l.waitUntil
	}
	g.fetchAndWait(l.r, l.entry, l.j.Site, until)
	l.state = l.entry.State()
}

// isUsable reports whether the guard can decide about a request without a fetch.
func (g *Guard) isUsable(state *policy.State, now time.Time) bool {
	if state == nil || state.Expired(now) {
		return false
	}
	_, closed := state.RulesAt(now, g.Fallback)
	return !closed
}

// switchToNewer applies a newer version of the robots.txt to the request and reports whether a
// newer version exists. With fetch, switchToNewer fetches the file first. The fetch is for a
// crawler about to be blocked or slowed: the crawler may have fetched a newer version without
// passing this guard.
func (g *Guard) switchToNewer(l *robotsLookup, fetch bool) bool {
	if l.state == nil || l.state.Current == nil {
		return false
	}
	if fetch {
		if l.j.Verification == verify.Spoofed {
			return false
		}
		g.fetchAgain(l)
	}
	newer := l.entry.State() // another request may have fetched the file
	if newer == nil || newer.Current == nil || newer.Current.Hash == l.state.Current.Hash && slices.Equal(newer.RedirectTargets, l.state.RedirectTargets) {
		return false
	}
	l.state, l.isSecondPass = newer, true
	g.identifyAgain(l)
	return true
}

// fetchAgain fetches the robots.txt if our copy is older than [Guard.minAgeForRefetch], or if the site
// served another file. After a failure, fetchAgain waits for the next due time.
func (g *Guard) fetchAgain(l *robotsLookup) {
	if !l.entry.PossiblyChanged() && l.now.Sub(l.state.Current.LastFetched) < g.minAgeForRefetch(l.j.Site.Key) {
		return
	}
	var until time.Time
	if l.mayWait {
		until = l.waitUntil
	}
	// A running fetch is new enough, and so is a fetch that has failed since.
	if !l.entry.IsDue(l.now) && l.entry.State().FailureCount == 0 && !l.entry.PossiblyChanged() {
		l.entry.MarkPossiblyChanged(l.now)
	}
	g.fetchAndWait(l.r, l.entry, l.j.Site, until)
}

// fileInterval is the minimum time between reads of a file before blocks.
const fileInterval = 10 * time.Second

// minAgeForRefetch returns the minimum age of a copy for another fetch before a block. The age for a local
// file is shorter: reading is cheap, and only a read shows an edit.
func (g *Guard) minAgeForRefetch(key policy.Key) time.Duration {
	if key.IsFile() {
		return fileInterval
	}
	return max(g.Freshness.Min, time.Minute)
}

// identifyAgain identifies the client by the names in the robots.txt, which may have a group for
// the client. The client does not become a browser, because then the request would have no
// judgement.
func (g *Guard) identifyAgain(l *robotsLookup) {
	before, now := l.identifiedBy, l.state
	if now == before || now == nil || now.Current == nil || before != nil && before.Current == now.Current {
		return
	}
	registry := g.Registry.Load()
	names := overlayOf(registry, now)
	if names == overlayOf(registry, before) {
		l.identifiedBy = now
		return
	}
	client := g.Settings.Identify(registry, site.RequestUserAgent(l.r), names)
	if client.Class == uaident.Browser {
		return
	}
	l.j.Client, l.identifiedBy = client, now
	l.j.Verification, l.j.VerifiedBy = g.Identity.VerifyClient(l.r, client)
}

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

// lookup has the state of finding the robots.txt for one request.
type lookup struct {
	r          *http.Request
	j          *Judgement
	entry      *policy.Entry // of the site
	state      *policy.State // of the robots.txt, nil before the first fetch
	identified *policy.State // whose names identified the client, nil for the registry alone
	now, until time.Time     // time of the request, and the end of its wait for a fetch
	waits      bool          // whether the request may wait
	secondPass bool          // a repeated judgement, by a newer version
}

// lookUp finds the robots.txt of the judgement's site and fetches the file if due. entry and cached
// are the results of identify.
func (g *Guard) lookUp(r *http.Request, j *Judgement, entry *policy.Entry, cached *policy.State) lookup {
	now := time.Now()
	l := lookup{r: r, j: j, entry: entry, identified: cached, now: now, until: now.Add(g.FetchWait)}
	l.waits = j.Client.Class.IsCrawler() || isNamed(j.Client, g.knownRobots(r, j, cached))
	if l.waits && (entry == nil || g.shared.Memory.IsFirstReadPending()) {
		g.shared.awaitStored(r, g.FetchWait)
		l.now = time.Now()
	}
	j.at = l.now
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
func (g *Guard) fetchDue(l *lookup) {
	if !l.entry.IsDue(l.now) {
		l.state = l.entry.State() // a fetch may have ended since identify
		return
	}
	var until time.Time
	if l.waits && !g.isUsable(l.entry.State(), l.now) {
		until = l.until
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
func (g *Guard) switchToNewer(l *lookup, fetch bool) bool {
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
	l.state, l.secondPass = newer, true
	g.identifyAgain(l)
	return true
}

// fetchAgain fetches the robots.txt if our copy is older than [Guard.leastAge], or if the site
// served another file. After a failure, fetchAgain waits for the next due time.
func (g *Guard) fetchAgain(l *lookup) {
	if !l.entry.PossiblyChanged() && l.now.Sub(l.state.Current.LastFetched) < g.leastAge(l.j.Site.Key) {
		return
	}
	var until time.Time
	if l.waits {
		until = l.until
	}
	// A running fetch is new enough, and so is a fetch that has failed since.
	if !l.entry.IsDue(l.now) && l.entry.State().Failures == 0 && !l.entry.PossiblyChanged() {
		l.entry.MarkPossiblyChanged(l.now)
	}
	g.fetchAndWait(l.r, l.entry, l.j.Site, until)
}

// fileInterval is the minimum time between reads of a file before blocks.
const fileInterval = 10 * time.Second

// leastAge returns the minimum age of a copy for another fetch before a block. The age for a local
// file is shorter: reading is cheap, and only a read shows an edit.
func (g *Guard) leastAge(key policy.Key) time.Duration {
	if key.IsFile() {
		return fileInterval
	}
	return max(g.Freshness.Min, time.Minute)
}

// identifyAgain identifies the client by the names in the robots.txt, which may have a group for
// the client. The client does not become a browser, because then the request would have no
// judgement.
func (g *Guard) identifyAgain(l *lookup) {
	before, now := l.identified, l.state
	if now == before || now == nil || now.Current == nil || before != nil && before.Current == now.Current {
		return
	}
	registry := g.Registry.Load()
	names := overlayOf(registry, now)
	if names == overlayOf(registry, before) {
		l.identified = now
		return
	}
	client := g.Settings.Identify(registry, site.UserAgentOf(l.r), names)
	if client.Class == uaident.Browser {
		return
	}
	l.j.Client, l.identified = client, now
	l.j.Verification, l.j.Proof = g.Identity.Identify(l.r, client)
}

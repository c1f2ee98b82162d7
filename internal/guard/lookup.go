package guard

import (
	"net/http"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// lookup is the search for the robots.txt by which one request is judged.
type lookup struct {
	r          *http.Request
	j          *Judgement
	entry      *policy.Entry // of the site
	state      *policy.State // what is known of its robots.txt, nil for nothing
	identified *policy.State // by whose names the client was identified, nil for those of the registry alone
	now, until time.Time     // when the request came, and how long it may wait for a fetch
	waits      bool          // whether it waits at all
	secondPass bool          // whether the request is judged again, by a newer version
}

// lookUp finds the robots.txt of the site of a judgement, and fetches it if it is due. entry
// and cached are what is known without a fetch, nil for nothing: by the names in cached the
// client was identified.
func (g *Guard) lookUp(r *http.Request, j *Judgement, entry *policy.Entry, cached *policy.State) lookup {
	now := time.Now()
	l := lookup{r: r, j: j, entry: entry, identified: cached, now: now, until: now.Add(g.FetchWait)}
	l.waits = j.Client.Class.IsCrawler() || isNamed(j.Client, g.knownRobots(r, j, cached))
	if l.waits && (entry == nil || g.shared.Memory.Cold()) {
		g.shared.awaitStored(r, g.FetchWait)
		l.now = time.Now()
	}
	j.at = l.now
	if entry == nil {
		l.entry = g.entryFor(j.Site)
	}
	l.entry.Use(l.now)
	g.Metrics.LookedUp(l.entry.State() != nil)
	g.fetchDue(&l)
	g.identifyAgain(&l)
	return l
}

// fetchDue has the robots.txt fetched in the background if it is due. A request that may wait
// does so where there is no copy, where the copy is too old to be used, and where the site is
// closed because the file cannot be read.
func (g *Guard) fetchDue(l *lookup) {
	if !l.entry.Due(l.now) {
		l.state = l.entry.State() // it may have been read since the client was identified
		return
	}
	var until time.Time
	if l.waits && !g.isUsable(l.entry.State(), l.now) {
		until = l.until
	}
	result := g.fetchAndWait(l.r, l.entry, l.j.Site, until)
	for result == fetchBusy && l.waits && l.entry.State() == nil && time.Now().Before(l.until) && l.r.Context().Err() == nil {
		awaitClosed(l.r, nil, min(slotInterval, time.Until(l.until)))
		result = g.fetchAndWait(l.r, l.entry, l.j.Site, until)
	}
	l.state = l.entry.State()
}

// isUsable reports whether a request can be judged by what is known without a fetch.
func (g *Guard) isUsable(state *policy.State, now time.Time) bool {
	if state == nil || state.Expired(now) {
		return false
	}
	_, closed := state.Usable(now, g.Fallback)
	return !closed
}

// switchToNewer makes a newer version of the robots.txt the one by which the request is judged,
// identifies its client by the names in that version, and reports whether there is one. With
// fetch it fetches the file again first. That is for a crawler that would be blocked or slowed:
// it may have read a newer version where this guard does not see it.
func (g *Guard) switchToNewer(l *lookup, fetch bool) bool {
	if l.state == nil || l.state.Good == nil {
		return false
	}
	if fetch {
		if l.j.Identity == verify.Spoofed {
			return false
		}
		g.fetchAgain(l)
	}
	newer := l.entry.State() // which another request may have fetched
	if newer == nil || newer.Good == nil || newer.Good.Hash == l.state.Good.Hash && slices.Equal(newer.Via, l.state.Via) {
		return false
	}
	l.state, l.secondPass = newer, true
	g.identifyAgain(l)
	return true
}

// fetchAgain fetches the robots.txt if our copy is older than [Guard.leastAge], or if the site
// was seen to serve another file; after a failure not before the next attempt is due.
func (g *Guard) fetchAgain(l *lookup) {
	if !l.entry.Suspect() && l.now.Sub(l.state.Good.LastRead) < g.leastAge(l.j.Site.Key) {
		return
	}
	var until time.Time
	if l.waits {
		until = l.until
	}
	result := g.fetchAndWait(l.r, l.entry, l.j.Site, until)
	// A fetch under way is new enough, and so is one that has failed since.
	if latest := l.entry.State(); result == notDue && latest != nil && latest.Failures == 0 && !l.entry.Suspect() {
		l.entry.MarkSuspect(l.now)
		g.fetchAndWait(l.r, l.entry, l.j.Site, until)
	}
}

// fileInterval is how often a file is read at most before blocks.
const fileInterval = 10 * time.Second

// leastAge is how old a copy is at least that is fetched again before a block. A file may be
// read more often than a URL: no server has to answer, and only a read shows that it was edited.
func (g *Guard) leastAge(key policy.Key) time.Duration {
	if key.IsFile() {
		return fileInterval
	}
	return max(g.Freshness.Min, time.Minute)
}

// identifyAgain identifies the client by the names in the file that was found, which may have a
// group for it. It does not become a browser by that: then the request would not be judged.
func (g *Guard) identifyAgain(l *lookup) {
	before, now := l.identified, l.state
	if now == before || now == nil || now.Good == nil || before != nil && before.Good == now.Good {
		return
	}
	registry := g.Registry.Load()
	names := overlayOf(registry, now)
	if names == overlayOf(registry, before) {
		l.identified = now
		return
	}
	client := g.Settings.Identify(registry, request.UserAgentOf(l.r), names)
	if client.Class == uaident.Browser {
		return
	}
	l.j.Client, l.identified = client, now
	l.j.Identity, l.j.Proof = g.Identity.Identify(l.r, client)
}

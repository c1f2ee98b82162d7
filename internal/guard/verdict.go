package guard

import (
	"crypto/sha256"
	"net/http"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// ask judges by the robots.txt of the site, reading it first if need be. atHand is
// what was known before.
func (g *Guard) ask(r *http.Request, entry *policy.Entry, atHand *policy.State, j *Judgement) {
	now := time.Now()
	until := now.Add(g.FetchWait) // the clock is read again only by who waits
	waits := j.Client.Class.IsCrawler() || isNamed(j.Client, atHand)
	if waits && (entry == nil || g.shared.Memory.Cold()) {
		g.shared.awaitStored(r, g.FetchWait)
		now = time.Now()
	}
	j.at = now
	if entry == nil {
		entry = g.meet(g.sitesOf(r).Server, j.Site)
	}
	entry.Use(now)
	g.Metrics.LookedUp(entry.State() != nil)
	state := g.state(r, entry, j.Site, waits, now, until.Sub(now))
	named := g.identifyAgain(r, j, atHand, state)
	by, texts := g.judgeBy(r, j, entry, state, waits, false, now, until)
	if j.Verdict == judge.Disallowed {
		if newer := g.readAgain(r, j, entry, state, waits, now, until); newer != nil {
			named = g.identifyAgain(r, j, named, newer)
			by, texts = g.judgeBy(r, j, entry, newer, waits, true, now, until)
		}
		if j.Verdict == judge.Disallowed && g.followsRedirect(r, j, entry, now) {
			g.Settings.Excuse(&j.Request, &j.Result)
		}
	}
	g.spend(r, j, by, texts, now)
	if j.Rate.State == rate.Slowed && !j.Rate.Limited { // by a delay that the owner may have left out since
		if newer := g.readAgain(r, j, entry, entry.State(), waits, now, until); newer != nil {
			j.Rate = Rate{}
			g.identifyAgain(r, j, named, newer)
			by, texts = g.judgeBy(r, j, entry, newer, waits, true, now, until)
			g.spend(r, j, by, texts, now)
		}
	}
	if j.Action == judge.Slowed && g.followsRedirect(r, j, entry, now) {
		j.pass() // some take a robots.txt that is answered 429 for a site that is closed
	}
}

// judgeBy judges by what is known of the site. It returns that, or what is known of
// another spelling or of its neighbours and counts in its place, and the texts that the
// crawler was served instead. again says that it has been judged before, until is how long
// the request may wait.
func (g *Guard) judgeBy(r *http.Request, j *Judgement, entry *policy.Entry, state *policy.State, waits, again bool, now, until time.Time) (by *policy.State, texts []*policy.Version) {
	j.held = false
	pending, elsewhere := false, false
	if known := g.knownSpelling(r, j, state, waits, now, until); known != nil && !g.hasReadHere(r, j, state, now) {
		state, elsewhere = known, true // what is served by another spelling counts for nobody
	} else {
		texts, pending = g.servedTo(r, j, entry, state, waits, now, until)
	}
	if state != nil {
		j.via = state.Via
	}
	ours, closed := inForce(state, now, g.Fallback)
	if never := state == nil || state.Good == nil; never && !closed {
		if shared := g.shared.Cache.Shared(j.Site.Key); shared != nil {
			state, ours = shared, shared.Good
		}
	}
	g.decide(j, ours, closed)
	if t := g.triedAt(j.Site); t.entry != nil && ours != nil && !elsewhere && !again { // each request counts once
		g.judgeTried(r, j, t, now)
	}
	if !waits {
		until = now
	}
	if ours != nil {
		g.judgeServed(r, j, state, texts, pending, now, until)
	}
	return state, texts
}

// judgeServed judges again by what the crawler was served and may know, once our copy
// has been asked. pending says that it is not known yet what it was served.
func (g *Guard) judgeServed(r *http.Request, j *Judgement, state *policy.State, texts []*policy.Version, pending bool, now, until time.Time) {
	if j.Verdict != judge.Disallowed && len(texts) == 0 {
		return
	}
	milder := slices.ContainsFunc(texts, func(text *policy.Version) bool { return g.allows(r, j, text) }) // of what it was served
	isFalse := j.Identity == verify.Spoofed                                                               // who gains nothing by what he was served
	switch {
	case j.Verdict != judge.Disallowed && milder:
	case j.Verdict != judge.Disallowed:
		if g.hasReplaced(r, j, state, texts, now, until) {
			return
		}
		if g.ChangeGuard > 0 && judge.IsSearchEngine(j.Client.Class, j.Identity) {
			g.Settings.Excuse(&j.Request, &j.Result)
			j.held = true // until our copy changes, and the change guard looks at it
			return
		}
		ours := j.Request
		j.Request = g.namedBy(r, j, texts[0])
		g.decide(j, texts[0], false)
		j.Request = ours // by whose names it is counted, and judged again by a newer copy
	case g.heldBack(r, state, j):
		g.Settings.Excuse(&j.Request, &j.Result)
		j.held = true
	case (milder || pending) && !isFalse, g.mayNotKnow(r, j, state, texts, now), len(texts) == 0 && g.mayKnowMore(r, state, j, now):
		g.Settings.Excuse(&j.Request, &j.Result)
	}
}

// decide judges by a version, nil where nobody knows the rules; closed says that
// everything is closed for that reason.
func (g *Guard) decide(j *Judgement, version *policy.Version, closed bool) {
	rules := judge.Rules{Via: j.via, Closed: closed}
	if j.Version = version; version != nil {
		rules.Robots = version.Robots
	}
	var scratch judge.Scratch
	g.Settings.Judge(&j.Request, rules, &scratch, &j.Result)
	if j.Verdict == judge.Exempt {
		j.Group, j.Named = nil, false // it obeys none
	}
}

// allows reports whether a version allows a request, of whom the names of that tell it is.
func (g *Guard) allows(r *http.Request, j *Judgement, version *policy.Version) bool {
	var scratch judge.Scratch
	var result judge.Result
	q := g.namedBy(r, j, version)
	g.Settings.Judge(&q, judge.Rules{Robots: version.Robots}, &scratch, &result)
	return result.Verdict != judge.Disallowed
}

// isNamed reports whether a policy names a client, so that its owner wants it to
// be held to that.
func isNamed(client uaident.Identity, state *policy.State) bool {
	if state == nil || state.Good == nil {
		return false
	}
	var names [8]string
	q := judge.Request{Client: client}
	_, named, _ := q.Subject(names[:0], false).Group(state.Good.Robots)
	return named
}

// inForce returns the version that holds at now, nil if nobody knows the rules,
// and whether everything is closed for that reason.
func inForce(state *policy.State, now time.Time, fallback policy.Fallback) (version *policy.Version, closed bool) {
	if state == nil {
		return nil, false
	}
	robots, closed := state.Usable(now, fallback)
	if robots == nil {
		return nil, closed
	}
	return state.Good, false
}

// graceOf returns how long a crawler may follow a text that was replaced. Who uses a
// false name has no longer one by it.
func (g *Guard) graceOf(j *Judgement) time.Duration {
	if j.Identity == verify.Spoofed {
		return g.Grace
	}
	return judge.Grace(j.Client, g.Grace)
}

// hasReplaced reports whether our copy has replaced a text that a crawler has read: for
// what the owner allows by now no crawler is blamed. One that has read that text since, as at
// an instance that lags or a cache, or of which it was the only one, may have read ours
// elsewhere by now; it is held to that text if the site still serves it to such a crawler.
func (g *Guard) hasReplaced(r *http.Request, j *Judgement, state *policy.State, texts []*policy.Version, now, until time.Time) bool {
	last, _ := g.lastReading(r, j)
	return slices.ContainsFunc(texts, func(text *policy.Version) bool {
		return last.At.Before(state.Good.FirstRead) && slices.ContainsFunc(state.Past, func(v *policy.Version) bool { return v.Hash == text.Hash }) ||
			!g.isServed(r, j, text.Hash, now, until)
	})
}

// isServed reports whether the site is known to serve a text to such a crawler, and not to
// serve it another one since. It asks the site if that was not found a moment ago.
func (g *Guard) isServed(r *http.Request, j *Judgement, hash [sha256.Size]byte, now, until time.Time) bool {
	site, client := g.shared.served.Site(*j.Site.Own()), claimedClient(r)
	if j.Identity == verify.Verified {
		client = operatorClient(j)
	}
	if at, ok := site.IsLast(client, hash, now); ok && now.Sub(at) < newerFor {
		return true
	}
	if done, _ := g.askSite(r, j, hash, now, nil); done != nil {
		awaitClosed(r, done, time.Until(until))
	}
	_, ok := site.IsLast(client, hash, now)
	return ok
}

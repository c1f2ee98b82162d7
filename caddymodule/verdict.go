package caddymodule

import (
	"crypto/sha256"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// ask judges by the robots.txt of the site, reading it first if need be. original
// is the request as the client sent it, and atHand what was known before.
func (g *guard) ask(r, original *http.Request, entry *policy.Entry, atHand *policy.Standing, j *judgement) {
	arrived := time.Now()
	waits := j.client.Class.IsCrawler() || isNamed(j.client, atHand)
	if waits && (entry == nil || g.state.cold.Load()) {
		g.state.awaitStored(r, g.fetchWait)
	}
	if entry == nil {
		entry = g.state.cache.Add(j.site.key, j.site.segment)
		g.adoptUnnamed(j.site)
		g.state.want(j.site)
	}
	now := time.Now()
	entry.Use(now)
	g.metrics.lookedUp(entry.Standing() != nil)
	standing := g.standing(r, entry, j, waits, now, g.fetchWait-now.Sub(arrived))
	var texts []*policy.Version
	pending := false
	if known := g.knownSpelling(r, j, standing, waits, now, g.fetchWait-time.Since(arrived)); known != nil {
		standing = known // what is served by another spelling counts for nobody
	} else {
		texts, pending = g.servedTo(r, j, entry, standing, waits, now, g.fetchWait-time.Since(arrived))
	}
	ours, closed := inForce(standing, now, g.fallback)
	if never := standing == nil || standing.Good == nil; never && !closed {
		if shared := g.state.cache.Shared(j.site.key); shared != nil {
			standing, ours = shared, shared.Good
		}
	}
	var names [8]string
	who := requestOf(j, original.Method).Claim(names[:0], g.judgedByWildcard(j.client))
	if ours == nil {
		j.verdict = verdictUnknown
		if closed && who.Wildcard {
			j.closed = true
			g.act(j)
		}
		return
	}
	var target policy.Target
	target.Set(j.target, g.keepSlashes)
	opaque := !strings.HasPrefix(j.target, "/") && original.URL.Opaque != ""
	j.take(rulingOf(who, ours, &target, opaque, g.keepSlashes))
	milder := false // a text that the crawler was served allows it
	for _, text := range texts {
		milder = milder || rulingOf(who, text, &target, opaque, g.keepSlashes).allows()
	}
	liar := j.identity == identitySpoofed // who gains nothing by what he was served
	switch {
	case j.verdict != verdictDisallowed && (milder || len(texts) == 0):
		return
	case j.verdict != verdictDisallowed:
		if g.hasReplaced(r, j, standing, texts) {
			return
		}
		if g.changeGuard > 0 && j.client.Class == uaident.Search {
			j.verdict, j.held = verdictStale, true // until our copy changes, and the change guard looks at it
			return
		}
		j.take(rulingOf(who, texts[0], &target, opaque, g.keepSlashes))
	case g.heldBack(j.site, standing, who, &target):
		j.verdict, j.held = verdictStale, true
		return
	case (milder || pending) && !liar,
		len(texts) == 0 && g.mayNotKnow(r, standing, j, who, &target, now):
		j.verdict = verdictStale
		return
	}
	g.act(j)
}

// adoptUnnamed takes over what is known of a site from when its server had no name
// in keys: a reload has added another server for the same host.
func (g *guard) adoptUnnamed(s site) {
	unnamed := s.key
	if unnamed.Server = ""; s.key.Server == "" {
		return
	}
	if before := g.state.cache.Get(unnamed); before != nil && before.Standing() != nil {
		g.state.cache.Restore(s.key, s.segment, *before.Standing(), true)
	}
}

// isNamed reports whether a policy names a client, so that its owner wants it to
// be held to that.
func isNamed(client uaident.Identity, standing *policy.Standing) bool {
	if standing == nil || standing.Good == nil {
		return false
	}
	var names [8]string
	_, named, _ := judge.Claim{Chain: client.AppendChain(names[:0])}.Group(standing.Good.Robots)
	return named
}

// inForce returns the version that holds at now, nil if nobody knows the rules,
// and whether everything is closed for that reason.
func inForce(standing *policy.Standing, now time.Time, fallback policy.Fallback) (version *policy.Version, closed bool) {
	if standing == nil {
		return nil, false
	}
	robots, closed := standing.Usable(now, fallback)
	if robots == nil {
		return nil, closed
	}
	return standing.Good, false
}

// ruling is what a version says about a request.
type ruling struct {
	version *policy.Version
	policy  policy.Verdict
	named   bool // a group names the client
	exempt  bool // no group is meant for it
}

func (r ruling) allows() bool { return r.exempt || r.policy.Allowed }

// rulingOf judges a target by a version. An opaque one is also judged by what is
// served where no proxy passes it on.
func rulingOf(who judge.Claim, version *policy.Version, target *policy.Target, opaque, keepSlashes bool) ruling {
	group, named, exempt := who.Group(version.Robots)
	if exempt {
		return ruling{version: version, exempt: true}
	}
	verdict := who.Judge(version.Robots, group, target)
	if verdict.Allowed && opaque {
		var root policy.Target
		root.Set("/", keepSlashes)
		verdict = who.Judge(version.Robots, group, &root)
	}
	return ruling{version: version, policy: verdict, named: named}
}

// take makes a ruling the verdict.
func (j *judgement) take(r ruling) {
	j.version, j.policy, j.named = r.version, r.policy, r.named
	switch {
	case r.exempt:
		j.verdict = verdictExempt
	case r.policy.Allowed:
		j.verdict = verdictAllowed
	default:
		j.verdict = verdictDisallowed
	}
}

// mayNotKnow reports whether a crawler may not know yet that the current version
// forbids what it asks for: it may still follow an older copy that allows it.
// What it was served counts in place of this, if that is known. Where it is not,
// because nobody else is served so, it is as if the crawler had read nothing.
func (g *guard) mayNotKnow(r *http.Request, standing *policy.Standing, j *judgement, who judge.Claim, target *policy.Target, now time.Time) bool {
	if len(standing.Past) == 0 {
		return false
	}
	last, _ := g.lastReading(r, j)
	if last.Hash == standing.Good.Hash {
		return false
	}
	if g.sourceKey == "" && last.Hash != [sha256.Size]byte{} && now.Sub(last.At) < policy.MaxAge {
		last = ledger.Reading{}
	}
	refused := g.state.served.site(j.site).isRefused()
	for _, v := range standing.Held(now, last.At, g.grace) {
		if refused && refusesUs(policy.Answer{Status: v.Status}) {
			continue // the guard was refused the file, and nobody else
		}
		if who.Verdict(v.Robots, target).Allowed {
			return true
		}
	}
	return false
}

// hasReplaced reports whether our copy has replaced a text since a crawler has read
// it: for what the owner allows by now no crawler is blamed.
func (g *guard) hasReplaced(r *http.Request, j *judgement, standing *policy.Standing, texts []*policy.Version) bool {
	last, _ := g.lastReading(r, j)
	return last.At.Before(standing.Good.FirstRead) && slices.ContainsFunc(standing.Past, func(v *policy.Version) bool {
		return slices.ContainsFunc(texts, func(text *policy.Version) bool { return text.Hash == v.Hash })
	})
}

// requestOf tells what, beside the rules, decides about a request.
func requestOf(j *judgement, method string) judge.Request {
	return judge.Request{Client: j.client, Method: method, Target: j.target, False: j.identity == identitySpoofed}
}

// judgedByWildcard reports whether the * group is meant for a client. What is
// known of a crawler wins over the configured classes.
func (g *guard) judgedByWildcard(client uaident.Identity) bool {
	switch {
	case g.wildcard == 0:
		return client.Wildcard()
	case client.Crawler != nil && client.Crawler.Wildcard != uaident.WildcardByClass:
		return client.Crawler.Wildcard == uaident.WildcardOn
	}
	return g.wildcard.has(client.Class)
}

// act decides what to do about a request outside the robots.txt.
func (g *guard) act(j *judgement) {
	j.action = actionLogged
	if g.enforce && !g.spares(j) {
		j.action = actionBlocked
	}
}

// spares reports whether the configuration has a client logged and not blocked.
func (g *guard) spares(j *judgement) bool {
	if j.identity == identitySpoofed {
		return g.spoofed == spoofedLog
	}
	return g.onlyLog.has(j)
}

package caddymodule

import (
	"net/http"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// ask judges by the robots.txt of the site, reading it first if need be.
func (g *guard) ask(r *http.Request, entry *policy.Entry, j *judgement) {
	arrived := time.Now()
	if j.client.Class.IsCrawler() && (entry == nil || g.state.cold.Load()) {
		g.state.awaitStored(r, g.fetchWait)
	}
	if entry == nil {
		entry = g.state.cache.Add(j.site.key, j.site.segment)
		g.state.want(j.site)
	}
	now := time.Now()
	entry.Use(now)
	g.metrics.lookedUp(entry.Standing() != nil)
	standing := g.standing(r, entry, j, now, g.fetchWait-now.Sub(arrived))
	if standing == nil {
		j.verdict = verdictUnknown
		return
	}
	var names [8]string
	who := requestOf(j, originalRequest(r).Method).Claim(names[:0], g.judgedByWildcard(j.client))
	robots, closed := standing.Usable(now, g.fallback)
	if robots == nil {
		j.verdict = verdictUnknown
		if closed && who.Wildcard {
			j.closed = true
			g.act(j)
		}
		return
	}
	j.version = standing.Good
	var exempt bool
	var group *policy.Selection
	group, j.named, exempt = who.Group(robots)
	if exempt {
		j.verdict = verdictExempt
		return
	}
	var target policy.Target
	target.Set(j.target, g.keepSlashes)
	j.policy = who.Judge(robots, group, &target)
	if j.policy.Allowed && !strings.HasPrefix(j.target, "/") && originalRequest(r).URL.Opaque != "" {
		target.Set("/", g.keepSlashes) // which is served where no proxy passes it on
		j.policy = who.Judge(robots, group, &target)
	}
	switch {
	case j.policy.Allowed:
	case g.heldBack(j.site, standing, who, &target):
		j.verdict, j.held = verdictStale, true
	case g.mayNotKnow(r, entry, standing, j, who, &target, now):
		j.verdict = verdictStale
	default:
		j.verdict = verdictDisallowed
		g.act(j)
	}
}

// mayNotKnow reports whether a crawler may not know yet that the current
// version forbids what it asks for: it may still follow an older copy that
// allows it, or it has read a newer one, which is about to be read.
func (g *guard) mayNotKnow(r *http.Request, entry *policy.Entry, standing *policy.Standing, j *judgement, who judge.Claim, target *policy.Target, now time.Time) bool {
	if entry.Doubted() {
		return true
	}
	if len(standing.Past) == 0 {
		return false
	}
	last, _ := g.lastReading(r, j)
	if last.Hash == standing.Good.Hash {
		return false
	}
	for _, v := range standing.Held(now, last.At, g.grace) {
		if who.Verdict(v.Robots, target).Allowed {
			return true
		}
	}
	return false
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

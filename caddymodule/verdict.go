package caddymodule

import (
	"net/http"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// ask judges by the robots.txt of the site, reading it first if need be.
func (g *guard) ask(r *http.Request, entry *policy.Entry, j *judgement) {
	if entry == nil {
		entry = g.state.cache.Add(j.site.key, j.site.segment)
		g.state.want(j.site)
	}
	now := time.Now()
	entry.Use(now)
	g.metrics.lookedUp(entry.Standing() != nil)
	standing := g.standing(r, entry, j, now)
	if standing == nil {
		j.verdict = verdictUnknown
		return
	}
	wildcard := g.judgedByWildcard(j.client)
	robots, closed := standing.Usable(now, g.fallback)
	if robots == nil {
		j.verdict = verdictUnknown
		if closed && wildcard {
			j.closed = true
			g.act(j)
		}
		return
	}
	j.version = standing.Good
	var names [8]string
	who := claim{chain: j.client.AppendChain(names[:0]), wildcard: wildcard}
	var exempt bool
	var group *policy.Selection
	group, j.named, exempt = who.group(robots)
	if exempt {
		j.verdict = verdictExempt
		return
	}
	var target policy.Target
	target.Set(j.target, g.keepSlashes)
	j.policy = group.JudgeTarget(&target)
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

// claim is how a client is found in a robots.txt.
type claim struct {
	chain    []string // the names to try
	wildcard bool     // whether the * group is meant for it
}

// group returns the group that the client has to obey, nil if there is none,
// and whether the group names it. exempt says that there is a * group, which is
// not meant for it.
func (c claim) group(robots *policy.Robots) (group *policy.Selection, named, exempt bool) {
	if group = robots.Select(false, c.chain...); group != nil {
		return group, true, false
	}
	group = robots.Select(true)
	return group, false, group != nil && !c.wildcard
}

// verdict judges a target. A client that the * group is not meant for may fetch
// everything.
func (c claim) verdict(robots *policy.Robots, target *policy.Target) policy.Verdict {
	group, _, exempt := c.group(robots)
	if exempt {
		return policy.Verdict{Allowed: true}
	}
	return group.JudgeTarget(target)
}

// mayNotKnow reports whether a crawler may not know yet that the current
// version forbids what it asks for: it may still follow an older copy that
// allows it, or it has read a newer one, which is about to be read.
func (g *guard) mayNotKnow(r *http.Request, entry *policy.Entry, standing *policy.Standing, j *judgement, who claim, target *policy.Target, now time.Time) bool {
	if entry.Doubted() {
		return true
	}
	if len(standing.Past) == 0 {
		return false
	}
	last, _ := g.state.readers.Last(g.readerOf(r, j))
	if last.Hash == standing.Good.Hash {
		return false
	}
	for _, v := range standing.Held(now, last.At, g.grace) {
		if who.verdict(v.Robots, target).Allowed {
			return true
		}
	}
	return false
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
	if g.enforce && !g.onlyLog.has(j.client) {
		j.action = actionBlocked
	}
}

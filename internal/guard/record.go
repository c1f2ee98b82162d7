package guard

import (
	"cmp"
	"net/http"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/registry"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// record adds a judgement to the ledger.
func (g *Guard) record(r *http.Request, j *Judgement) {
	if g.shared.Ledger == nil {
		return
	}
	g.recordPresence(j)
	if g.shared.own.reads(j) {
		return
	}
	if j.at.IsZero() {
		j.at = time.Now()
	}
	q := g.ledgerRequest(r, j, j.at)
	j.recorded = true
	g.shared.Ledger.Record(&q)
	g.noteStranger(r, j, &q, false)
}

// recordReading records a crawler's robots fetch. It ignores early data, which does not prove the
// client's address.
func (g *Guard) recordReading(r *http.Request, j *Judgement, read ledger.RobotsFetch) {
	if site.IsEarly(r) {
		return
	}
	g.Metrics.RecordRobotsFetch(j.Site.Label, g.labelOf(j), ledger.Time(read.At))
	if g.shared.Ledger == nil {
		return
	}
	q := g.ledgerRequest(r, j, time.Now())
	g.noteStranger(r, j, &q, true)
	g.shared.Ledger.RecordRobotsFetch(&q, read)
}

// ledgerRequest converts a request with its judgement to the form of the ledger.
func (g *Guard) ledgerRequest(r *http.Request, j *Judgement, at time.Time) ledger.Request {
	q := ledger.Request{
		At:        at,
		Site:      j.Site.Label,
		Shared:    j.Site.Segment == policy.UnknownHosts,
		Identity:  j.Identity,
		Verdict:   j.Verdict,
		Action:    j.Action,
		Slowed:    j.Rate.Slowed,
		Method:    r.Method,
		Target:    j.Target,
		UserAgent: j.userAgent,
		GroupLine: j.RobotsVerdict.Group.Line,
	}
	if j.Action == judge.Slowed {
		q.Action = j.Rate.instead
	}
	q.WouldBlock = q.Action == judge.Logged && !j.LogOnly
	if name, _ := addr.SplitPort(j.Site.Own().Host); addr.Unbracket(name) != j.Site.Label {
		q.Host = text.Printable(j.Site.Own().Host)
	}
	q.Token, q.Class, q.Named = j.counted()
	q.Against = judge.OpposesUse(j.Preferences, q.Class)
	if q.Token == ledger.Other || q.Token == judge.SpoofedName {
		q.Name = text.Printable(j.Client.Name())
	}
	if j.Version != nil {
		q.Since = j.Version.FirstFetched
		q.Rule = ledger.Rule{Version: j.Version.Hash, Line: j.RobotsVerdict.Rule.Line, Group: j.RobotsVerdict.Group.Name}
	}
	if j.Verdict == judge.Disallowed || j.Verdict == judge.Stale {
		q.Rule.Text = j.RobotsVerdict.Rule.String()
	}
	if j.Verdict == judge.Disallowed {
		q.Network = addr.Network(site.ClientAddr(r))
	}
	return q
}

// noteStranger records a client unknown to the registry and to robots.txt.
func (g *Guard) noteStranger(r *http.Request, j *Judgement, q *ledger.Request, robots bool) {
	if q.Token == ledger.Other {
		g.shared.Strangers.Record(registry.UnregisteredRequest{
			Name: j.Client.Name(), Class: j.Client.Class, UserAgent: q.UserAgent, Network: addr.Network(site.ClientAddr(r)), IsRobotsFetch: robots, Time: q.At,
		})
	}
}

// counted returns the token and class of a client in the ledger, and whether robots.txt names the
// client.
func (j *Judgement) counted() (token string, class uaident.Class, named bool) {
	if j.Identity == verify.Spoofed {
		return judge.SpoofedName, uaident.Other, false
	}
	return cmp.Or(j.KnownName(), ledger.Other), j.Client.Class, j.Named
}

// classCounted returns the class of a client in the ledger.
func (j *Judgement) classCounted() uaident.Class {
	if j.Identity == verify.Spoofed {
		return uaident.Other
	}
	return j.Client.Class
}

// edited records a change of robots.txt at each of its sites.
func (g *Guard) edited(key policy.Key, before, after *policy.Version) {
	if g.shared.Ledger == nil || before == nil || after == nil {
		return
	}
	p := &g.shared.presences
	p.mu.Lock()
	sites := p.with(key)
	p.mu.Unlock()
	for label := range sites {
		g.shared.Ledger.RecordEdit(label, before, after, after.FirstFetched)
	}
}

// noteSearchBlocked raises an alert about a search engine blocked by a rule for other crawlers.
func (g *Guard) noteSearchBlocked(j *Judgement, crawler string) {
	if g.shared.Alerts == nil {
		return
	}
	g.shared.Alerts.RecordBlock(alert.Block{
		BlockedSearchEngine: alert.BlockedSearchEngine{Site: j.Site.Label, Crawler: crawler, Identity: j.Identity},
		Rule:                j.RobotsVerdict.Rule.String(), Line: j.RobotsVerdict.Rule.Line, Group: text.Truncate(j.RobotsVerdict.Group.Name, maxLoggedTarget), Path: j.Target,
	})
}

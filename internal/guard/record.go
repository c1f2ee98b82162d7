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

// recordInLedger records a judged request in the ledger, and its site in the site records.
func (g *Guard) recordInLedger(r *http.Request, j *Judgement) {
	g.recordSite(j)
	if j.judgedAt.IsZero() {
		j.judgedAt = time.Now()
	}
	q := g.ledgerRequest(r, j, j.judgedAt)
	g.state.Ledger.Record(&q)
	g.recordUnregistered(r, j, &q, false)
}

// recordRobotsFetch records in the ledger and the metrics that a crawler fetched robots.txt.
// recordRobotsFetch ignores early data, which does not prove the client's address.
func (g *Guard) recordRobotsFetch(r *http.Request, j *Judgement, read ledger.RobotsFetch) {
	if site.IsEarlyData(r) {
		return
	}
	g.state.Metrics.RecordRobotsFetch(j.Site.Label, g.metricsLabel(j), ledger.FromUnixMilli(read.At))
	q := g.ledgerRequest(r, j, time.Now())
	g.recordUnregistered(r, j, &q, true)
	g.state.Ledger.RecordRobotsFetch(&q, read)
}

// ledgerRequest returns the record of a judged request for the ledger.
func (g *Guard) ledgerRequest(r *http.Request, j *Judgement, at time.Time) ledger.Request {
	q := ledger.Request{
		At:               at,
		Site:             j.Site.Label,
		HostsFromClients: j.Site.CacheSegment == policy.UnknownHosts,
		Identity:         j.Verification,
		Verdict:          j.Verdict,
		Action:           j.Action,
		Slowed:           j.Rate.MustSlow,
		Method:           r.Method,
		Target:           j.Target,
		UserAgent:        j.userAgent,
		GroupLine:        j.RobotsVerdict.Group.Line,
	}
	if j.Action == judge.Slowed {
		q.Action = j.Rate.actionWithoutSlowing
	}
	q.WouldBlock = q.Action == judge.Logged && !j.LogOnly
	if name, _ := addr.SplitPort(j.Site.OwnKey().Host); addr.Unbracket(name) != j.Site.Label {
		q.Host = text.Printable(j.Site.OwnKey().Host)
	}
	q.Token, q.Class, q.NamedByRobots = j.ledgerIdentity()
	q.AgainstPreference = judge.OpposesUse(j.Preferences, q.Class)
	if q.Token == ledger.Other || q.Token == judge.SpoofedName {
		q.Name = text.Printable(j.Client.Name())
	}
	if j.Version != nil {
		q.VersionFetchedAt = j.Version.FirstFetched
		q.Rule = ledger.Rule{Version: j.Version.Hash, Line: j.RobotsVerdict.Rule.Line, Group: j.RobotsVerdict.Group.Name}
	}
	if j.Verdict == judge.Disallowed || j.Verdict == judge.Stale {
		q.Rule.Text = j.RobotsVerdict.Rule.String()
	}
	if j.Verdict == judge.Disallowed {
		q.Network = addr.NetworkOfAddr(site.ClientAddr(r))
	}
	return q
}

// recordUnregistered records the name of a client that neither the registry nor robots.txt has.
// robots is true for a request for robots.txt.
func (g *Guard) recordUnregistered(r *http.Request, j *Judgement, q *ledger.Request, robots bool) {
	if q.Token == ledger.Other {
		g.state.Unregistered.Record(registry.UnregisteredRequest{
			Name: j.Client.Name(), Class: j.Client.Class, UserAgent: q.UserAgent, Network: addr.NetworkOfAddr(site.ClientAddr(r)), IsRobotsFetch: robots, Time: q.At,
		})
	}
}

// ledgerIdentity returns the token and class under which the ledger counts the client, and whether
// robots.txt names the client.
func (j *Judgement) ledgerIdentity() (token string, class uaident.Class, named bool) {
	if j.Verification == verify.Spoofed {
		return judge.SpoofedName, uaident.Other, false
	}
	return cmp.Or(j.KnownName(), ledger.Other), j.Client.Class, j.GroupNamesClient
}

// ledgerClass returns the class under which the ledger and the metrics count the client.
func (j *Judgement) ledgerClass() uaident.Class {
	if j.Verification == verify.Spoofed {
		return uaident.Other
	}
	return j.Client.Class
}

// recordEdit records in the ledger that robots.txt has changed, for each site that uses the file.
func (g *Guard) recordEdit(key policy.Key, before, after *policy.Version) {
	if before == nil {
		return
	}
	for label := range g.state.siteRecords.recordsWithKey(key) {
		g.state.Ledger.RecordRobotsChange(label, before, after, after.FirstFetched)
	}
}

// recordSearchBlock raises an alert: a search engine was blocked by a rule in a group for other
// crawlers.
func (g *Guard) recordSearchBlock(j *Judgement, crawler string) {
	g.state.Alerts.RecordBlock(alert.SearchBlock{
		BlockedSearchEngine: alert.BlockedSearchEngine{Site: j.Site.Label, Crawler: crawler, Identity: j.Verification},
		Rule:                j.RobotsVerdict.Rule.String(), Line: j.RobotsVerdict.Rule.Line, Group: text.Truncate(j.RobotsVerdict.Group.Name, maxLoggedTarget), Path: j.Target,
	})
}

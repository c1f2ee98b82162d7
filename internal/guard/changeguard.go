package guard

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/robotsguard/caddy-robots-guard/internal/copies"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// passUnblockedRequest passes on a request that is not blocked and records the response. It also
// records a page served to a search engine, because a later robots.txt may disallow the page.
func (g *Guard) passUnblockedRequest(w http.ResponseWriter, r *http.Request, j *Judgement, next caddyhttp.Handler) error {
	err := g.passAndRecordResponse(w, r, j, next)
	if err == nil && j.response.status < http.StatusBadRequest {
		g.recordAllowedPage(j)
	}
	return err
}

// recordAllowedPage records a page that a search engine requested if the robots.txt allows it. With
// decide, the guard does not see the response and assumes that the page was served.
func (g *Guard) recordAllowedPage(j *Judgement) {
	if j.Verdict == judge.Allowed {
		g.recordSearchEnginePage(j)
	}
}

// recordSearchEnginePage records a page requested by a search engine, so that the change guard
// notices a later robots.txt that disallows the page. If verify is on, only verified search engines
// count, because a spoofed name must not delay a change.
func (g *Guard) recordSearchEnginePage(j *Judgement) {
	if !g.state.changeGuard.IsUsed() || j.Reason == judge.ReasonRobotsTxt || j.Version == nil ||
		!judge.IsSearchEngine(j.Client.Class, j.Verification) || !j.Client.HasKnownName() || g.Identity.IsEnabled() && j.Verification != verify.Verified {
		return
	}
	query := j.GroupQuery(nil, g.Settings.WildcardApplies(j.Client))
	g.state.changeGuard.RecordServedPage(j.Site.Key, j.Version, ledger.CrawlerVisit{
		Crawler:         j.Client.Name(),
		GroupNames:      query.Names,
		WildcardApplies: query.WildcardApplies,
		Host:            j.Site.Label,
		Target:          ledger.RawText(j.Target),
	})
}

// updateHolds compares the current robots.txt of a site with the version compared last. updateHolds
// returns the holds: previous versions that the change guard keeps in force, because the current
// version disallows pages of search engines. It logs the holds that have started or ended.
func (g *Guard) updateHolds(s *site.Site, host copies.RequestHost, state *policy.State) []copies.Hold {
	if g.ChangeGuardTime <= 0 {
		return nil
	}
	holds, news := g.state.changeGuard.UpdateHolds(s.Key, state, g.ChangeGuardTime, g.Settings.KeepSlashes)
	now := time.Now()
	for _, h := range news.Lifted {
		g.state.Copies.SetHeldUntil(host, h.Version, now, now)
		g.logHoldEnd(s, state.Current, h, "the robots.txt allows these pages again")
	}
	for _, h := range news.Expired {
		g.logHoldEnd(s, state.Current, h, "change_guard has expired; the current robots.txt is in force")
	}
	if news.Started != nil {
		g.logHoldStart(s, state.Current, *news.Started)
	}
	for _, h := range holds {
		g.state.Copies.SetHeldUntil(host, h.Version, h.End, now)
	}
	return holds
}

// updateAndCheckHolds updates the holds of a request's site, see updateHolds, and then reports
// whether a version that the change guard keeps in force allows the request.
func (g *Guard) updateAndCheckHolds(r *http.Request, state *policy.State, j *Judgement) bool {
	if g.ChangeGuardTime <= 0 {
		return false
	}
	of := g.newRequestHost(r, j.Site)
	if slices.ContainsFunc(g.updateHolds(j.Site, of, state), func(h copies.Hold) bool { return g.versionAllows(r, j, h.Version) }) {
		return true
	}
	// An earlier configuration may have used another key for the site.
	return slices.ContainsFunc(g.state.Copies.HeldVersions(of.Host, time.Now()), func(v *policy.Version) bool { return g.versionAllows(r, j, v) })
}

// These are bounds of a log line about a change: crawlers, pages, and bytes of each page and rule.
const (
	maxLoggedCrawlers = 10
	maxLoggedExamples = 3
	maxLoggedExample  = 160
)

// logHoldStart warns that the change guard keeps the previous version in force and delays the
// current version.
func (g *Guard) logHoldStart(s *site.Site, current *policy.Version, h copies.Hold) {
	suppressed, ok := g.state.warningLimits.allowMessage(s.Label, "")
	if !ok {
		return
	}
	g.Logger.Warn("change guard: the new robots.txt disallows pages that search engines were served; the previous version stays in force",
		append(g.holdLogFields(s, current, h),
			zap.Strings("examples", g.describeDisallowedPages(current, h)),
			zap.String("advice", "if the change is a mistake, restore the robots.txt; if you want the change, wait, or reload with change_guard off"),
			zap.Uint64("suppressed", suppressed))...)
}

// logHoldEnd logs that the change guard no longer keeps a previous version in force, and why.
func (g *Guard) logHoldEnd(s *site.Site, current *policy.Version, h copies.Hold, why string) {
	level := zapcore.InfoLevel
	if s.CacheSegment == policy.UnknownHosts && s.Label == judge.OtherName {
		level = zapcore.DebugLevel
	}
	if c := g.Logger.Check(level, "change guard: a previous robots.txt is no longer in force"); c != nil {
		c.Write(append(g.holdLogFields(s, current, h), zap.String("reason", why))...)
	}
}

func (g *Guard) holdLogFields(s *site.Site, current *policy.Version, h copies.Hold) []zap.Field {
	var crawlers []string
	for _, v := range h.Visits {
		if len(crawlers) < maxLoggedCrawlers && !slices.Contains(crawlers, v.Crawler) {
			crawlers = append(crawlers, v.Crawler)
		}
	}
	return []zap.Field{
		zap.String("site", s.Key.String()),
		zap.String("version", hex.EncodeToString(current.Hash[:6])),
		zap.String("in_force", hex.EncodeToString(h.Version.Hash[:6])),
		zap.Time("until", h.End),
		zap.Strings("crawlers", crawlers),
		zap.Int("pages", len(h.Visits)),
	}
}

// describeDisallowedPages describes up to maxLoggedExamples pages of a hold with the rules of the
// current version that disallow them. It prefers pages of different crawlers and rules.
func (g *Guard) describeDisallowedPages(current *policy.Version, h copies.Hold) (shown []string) {
	type kind struct {
		crawler string
		line    int
	}
	seen := make(map[kind]bool)
	pages := ledger.PagesFromVisits(h.Visits)
	for _, again := range []bool{false, true} {
		for i, v := range h.Visits {
			if len(shown) == maxLoggedExamples {
				return shown
			}
			rule := pages[i].Verdict(current.Robots, g.Settings.KeepSlashes).Rule
			k := kind{v.Crawler, rule.Line}
			if seen[k] != again {
				continue
			}
			seen[k] = true
			example := fmt.Sprintf("%s %s (%s, line %d)", v.Crawler, text.Truncate(string(v.Target), maxLoggedExample),
				text.Truncate(rule.String(), maxLoggedExample), rule.Line)
			if !slices.Contains(shown, example) {
				shown = append(shown, example)
			}
		}
	}
	return shown
}

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

	"github.com/robotsguard/caddy-robots-guard/internal/changeguard"
	"github.com/robotsguard/caddy-robots-guard/internal/copies"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// pass passes a request on and counts the answer. If a search engine is served the page that
// it asks for, that is remembered for the next change of the robots.txt, be it the site's own
// or one that robots_txt makes.
func (g *Guard) pass(w http.ResponseWriter, r *http.Request, j *Judgement, next caddyhttp.Handler) error {
	err := g.passAndCount(w, r, j, next)
	if err == nil && j.response.status < http.StatusBadRequest {
		g.noteVisit(j)
	}
	return err
}

// noteVisit remembers a page that a search engine was served, or was let through to
// where nobody saw the answer.
func (g *Guard) noteVisit(j *Judgement) {
	if j.Verdict == judge.Allowed {
		g.rememberPage(j)
	}
}

// rememberPage remembers the page of a request of a search engine: a later robots.txt that
// disallows it shuts out the engine. If verify is on, only verified crawlers count: a false
// name must not hold back a change.
func (g *Guard) rememberPage(j *Judgement) {
	if g.ChangeGuard <= 0 && !g.shared.changes.IsGuarded() || j.Reason == judge.RobotsTxt || j.Version == nil ||
		!judge.IsSearchEngine(j.Client.Class, j.Identity) || !j.Client.Known() || g.Identity.Verifies() && j.Identity != verify.Verified {
		return
	}
	who := j.Subject(nil, g.Settings.WildcardApplies(j.Client))
	g.shared.changes.Served(j.Site.Key, j.Version, ledger.Visit{
		Crawler:  j.Client.Name(),
		Chain:    who.Chain,
		Wildcard: who.Wildcard,
		Host:     j.Site.Label,
		Target:   j.Target,
	})
}

// updateHolds compares the current robots.txt of a site with the versions before and returns
// those that the change guard keeps in force. It logs what has begun or ended since the last call.
func (g *Guard) updateHolds(s *request.Site, of copies.Of, state *policy.State) []changeguard.Hold {
	if g.ChangeGuard <= 0 {
		return nil
	}
	holds, news := g.shared.changes.Look(s.Key, state, g.ChangeGuard, g.Settings.KeepSlashes)
	now := time.Now()
	for _, h := range news.Lifted {
		g.shared.Copies.KeepInForce(of, h.Version, now, now)
		g.logRelease(s, state.Good, h, "the robots.txt allows these pages again")
	}
	for _, h := range news.Expired {
		g.logRelease(s, state.Good, h, "the time is over; the current robots.txt is in force")
	}
	if news.Began != nil {
		g.logHold(s, state.Good, *news.Began)
	}
	for _, h := range holds {
		g.shared.Copies.KeepInForce(of, h.Version, h.Until, now)
	}
	return holds
}

// isHeldBack reports whether a version that the change guard keeps in force allows a request
// which the current version disallows.
func (g *Guard) isHeldBack(r *http.Request, state *policy.State, j *Judgement) bool {
	if g.ChangeGuard <= 0 {
		return false
	}
	of := g.copiesOf(r, j.Site)
	if slices.ContainsFunc(g.updateHolds(j.Site, of, state), func(h changeguard.Hold) bool { return g.allows(r, j, h.Version) }) {
		return true
	}
	// A configuration before may have had another key for the site.
	return slices.ContainsFunc(g.shared.Copies.KeptInForce(of.Host, time.Now()), func(v *policy.Version) bool { return g.allows(r, j, v) })
}

// Bounds of what a log line repeats of a change: crawlers, pages, and bytes of
// each page and rule.
const (
	maxLoggedCrawlers = 10
	maxLoggedExamples = 3
	maxLoggedExample  = 160
)

// logHold warns that a change is held back.
func (g *Guard) logHold(s *request.Site, current *policy.Version, h changeguard.Hold) {
	suppressed, ok := g.shared.warningLimits.allow(s.Label, "")
	if !ok {
		return
	}
	g.Logger.Warn("change guard: the new robots.txt forbids what search engines were served; the version before stays in force",
		append(g.holdFields(s, current, h),
			zap.Strings("examples", g.examples(current, h)),
			zap.String("advice", "restore the robots.txt if this is a mistake; if it is meant, wait, or reload with change_guard off"),
			zap.Uint64("suppressed", suppressed))...)
}

// logRelease tells that a change is not held back any more.
func (g *Guard) logRelease(s *request.Site, current *policy.Version, h changeguard.Hold, why string) {
	level := zapcore.InfoLevel
	if s.Segment == policy.Invented && s.Label == judge.OtherName {
		level = zapcore.DebugLevel
	}
	if c := g.Logger.Check(level, "change guard: a version of robots.txt before the current one is not in force any more"); c != nil {
		c.Write(append(g.holdFields(s, current, h), zap.String("reason", why))...)
	}
}

func (g *Guard) holdFields(s *request.Site, current *policy.Version, h changeguard.Hold) []zap.Field {
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
		zap.Time("until", h.Until),
		zap.Strings("crawlers", crawlers),
		zap.Int("pages", len(h.Visits)),
	}
}

// examples shows some of the pages with the rules that forbid them, of as many
// crawlers and rules as there is room for.
func (g *Guard) examples(current *policy.Version, h changeguard.Hold) (shown []string) {
	type kind struct {
		crawler string
		line    int
	}
	seen := make(map[kind]bool)
	pages := changeguard.PagesOf(h.Visits)
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
			example := fmt.Sprintf("%s %s (%s, line %d)", v.Crawler, text.Cut(v.Target, maxLoggedExample),
				text.Cut(rule.String(), maxLoggedExample), rule.Line)
			if !slices.Contains(shown, example) {
				shown = append(shown, example)
			}
		}
	}
	return shown
}

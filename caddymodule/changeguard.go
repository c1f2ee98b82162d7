package caddymodule

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// pass passes a request on. If a search engine is served the page that it asks
// for, that is remembered for the next change of the robots.txt.
func (g *guard) pass(w http.ResponseWriter, r *http.Request, j *judgement, next caddyhttp.Handler) error {
	if g.changeGuard <= 0 || j.verdict != verdictAllowed || j.version == nil ||
		j.client.Class != uaident.Search || !j.client.Known() || j.identity == identitySpoofed {
		return next.ServeHTTP(w, r)
	}
	watched := &statusWatcher{ResponseWriterWrapper: &caddyhttp.ResponseWriterWrapper{ResponseWriter: w}}
	err := next.ServeHTTP(watched, r)
	if err == nil && watched.status < http.StatusBadRequest {
		var names [8]string
		who := requestOf(j, originalRequest(r).Method).Claim(names[:0], g.judgedByWildcard(j.client))
		g.state.changes.served(j.site, j.version, ledger.Visit{
			Crawler:  j.client.Name(),
			Chain:    who.Chain,
			Wildcard: who.Wildcard,
			Host:     j.site.label,
			Target:   j.target,
		})
	}
	return err
}

// statusWatcher sees the status of an answer while it passes.
type statusWatcher struct {
	*caddyhttp.ResponseWriterWrapper
	status int // 0 for an implicit 200
}

// WriteHeader implements [http.ResponseWriter].
func (w *statusWatcher) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
	w.ResponseWriterWrapper.WriteHeader(status)
}

// holds returns the versions that stay in force although the robots.txt has
// changed. It tells the owner what has begun or ended since it was last asked.
func (g *guard) holds(s site, standing *policy.Standing) []hold {
	if g.changeGuard <= 0 {
		return nil
	}
	holds, news := g.state.changes.look(s, standing, g.changeGuard, g.keepSlashes)
	for _, h := range news.lifted {
		g.logRelease(s, standing.Good, h, "the robots.txt allows these pages again")
	}
	for _, h := range news.expired {
		g.logRelease(s, standing.Good, h, "the time is over; the current robots.txt is in force")
	}
	if news.began != nil {
		g.logHold(s, standing.Good, *news.began)
	}
	return holds
}

// heldBack reports whether a version that stays in force allows what the
// current one forbids.
func (g *guard) heldBack(s site, standing *policy.Standing, who judge.Claim, target *policy.Target) bool {
	for _, h := range g.holds(s, standing) {
		if who.Verdict(h.version.Robots, target).Allowed {
			return true
		}
	}
	return false
}

// Bounds of what a log line repeats of a change: crawlers, pages, and bytes of
// each page and rule.
const (
	maxLoggedCrawlers = 10
	maxLoggedExamples = 3
	maxLoggedExample  = 160
)

// changeGuardLines is what the lines of the change guard are counted by, in
// place of a crawler's name, which has no parentheses: hosts that only clients
// name must not fill the log.
const changeGuardLines = "(change_guard)"

// logHold warns that a change is held back.
func (g *guard) logHold(s site, current *policy.Version, h hold) {
	suppressed, ok := g.state.violations.line(s.label, changeGuardLines)
	if !ok {
		return
	}
	g.logger.Warn("change guard: the new robots.txt forbids what search engines were served; the version before stays in force",
		append(g.holdFields(s, current, h),
			zap.Strings("examples", g.examples(current, h)),
			zap.String("advice", "restore the robots.txt if this is a mistake; if it is meant, wait, or reload with change_guard off"),
			zap.Uint64("suppressed", suppressed))...)
}

// logRelease tells that a change is not held back any more.
func (g *guard) logRelease(s site, current *policy.Version, h hold, why string) {
	level := zapcore.InfoLevel
	if s.segment == policy.Invented && s.label == otherLabel {
		level = zapcore.DebugLevel
	}
	if c := g.logger.Check(level, "change guard: a version of robots.txt before the current one is not in force any more"); c != nil {
		c.Write(append(g.holdFields(s, current, h), zap.String("reason", why))...)
	}
}

func (g *guard) holdFields(s site, current *policy.Version, h hold) []zap.Field {
	var crawlers []string
	for _, v := range h.visits {
		if len(crawlers) < maxLoggedCrawlers && !slices.Contains(crawlers, v.Crawler) {
			crawlers = append(crawlers, v.Crawler)
		}
	}
	return []zap.Field{
		zap.String("site", s.key.String()),
		zap.String("version", hex.EncodeToString(current.Hash[:6])),
		zap.String("in_force", hex.EncodeToString(h.version.Hash[:6])),
		zap.Time("until", h.until),
		zap.Strings("crawlers", crawlers),
		zap.Int("pages", len(h.visits)),
	}
}

// examples shows some of the pages with the rules that forbid them, of as many
// crawlers and rules as there is room for.
func (g *guard) examples(current *policy.Version, h hold) (shown []string) {
	type kind struct {
		crawler string
		line    int
	}
	seen := make(map[kind]bool)
	var target policy.Target
	for _, again := range []bool{false, true} {
		for _, v := range h.visits {
			if len(shown) == maxLoggedExamples {
				return shown
			}
			target.Set(v.Target, g.keepSlashes)
			rule := claimOf(v).Verdict(current.Robots, &target).Rule
			k := kind{v.Crawler, rule.Line}
			if seen[k] != again {
				continue
			}
			seen[k] = true
			example := fmt.Sprintf("%s %s (%s, line %d)", v.Crawler, shortened(v.Target, maxLoggedExample),
				shortened(rule.String(), maxLoggedExample), rule.Line)
			if !slices.Contains(shown, example) {
				shown = append(shown, example)
			}
		}
	}
	return shown
}

// holdCollector tells which hosts the change guard holds a change back for when
// it is asked for.
type holdCollector struct{ held *prometheus.Desc }

// Describe implements prometheus.Collector.
func (c holdCollector) Describe(ch chan<- *prometheus.Desc) { ch <- c.held }

// Collect implements prometheus.Collector.
func (c holdCollector) Collect(ch chan<- prometheus.Metric) {
	s := currentState.Load()
	if s == nil {
		return
	}
	for host := range s.changes.heldHosts() {
		ch <- prometheus.MustNewConstMetric(c.held, prometheus.GaugeValue, 1, host)
	}
}

// Interface guard
var _ prometheus.Collector = holdCollector{}

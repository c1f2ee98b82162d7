package guard

import (
	"context"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/metrics"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
)

// Var is the request variable with the judgement, for matchers.
const Var = "robots_guard.judgement"

// Announce counts and logs a judgement, records it in the ledger, and makes it available to later
// matchers, placeholders and the access log.
func (g *Guard) Announce(r *http.Request, j *Judgement) {
	j.isAnnounced = true
	if g.Identity.IsEnabled() && j.Client.Crawler != nil {
		g.state.Metrics.CountVerification(j.VerifiedBy, j.Verification)
	}
	crawler := g.state.Metrics.HostMetrics(j.Site.Label).CountRequest(metrics.JudgedRequest{
		Crawler: j.KnownName(), NamedByRobots: j.GroupNamesClient, Class: j.Client.Class, Identity: j.Verification, Verdict: j.Verdict, Action: j.Action,
	})
	if j.Rate.State != rate.NoRate {
		g.state.Metrics.CountRatedRequest(j.Client.Class, j.Rate.State)
	}
	if j.Rate.SlowingEnded {
		g.logSlowingEnded(j, crawler)
	}
	if j.BlocksSearch(j.Client, j.Verification) {
		g.recordSearchBlock(j, crawler)
	}

	ctx := r.Context()
	j.setPlaceholders(ctx)
	caddyhttp.SetVar(ctx, Var, j)
	if extra, ok := ctx.Value(caddyhttp.ExtraLogFieldsCtxKey).(*caddyhttp.ExtraLogFields); ok && hasAccessLog(ctx) {
		extra.Set(zap.Object("robots_guard", j))
	}
	g.recordInLedger(r, j)
	if j.isViolation() {
		g.logViolation(r, j, crawler)
		g.emitViolation(r, j, crawler)
	}
}

// setPlaceholders sets the placeholders of a request to the values of the judgement. The caller sets
// Var later.
func (j *Judgement) setPlaceholders(ctx context.Context) {
	repl, ok := ctx.Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if !ok {
		return
	}
	if caddyhttp.GetVar(ctx, Var) == nil {
		repl.Map(j.placeholder)
		return
	}
	// The replacer asks the function of an earlier guard first, but static values before any function.
	for name, value := range placeholders {
		repl.Set(placeholderPrefix+name, value(j))
	}
}

// standingJudgement returns the judgement of an earlier guard if this judgement stands, else nil.
// It stands in an error route and in on_violation, which responds to the request that the earlier
// guard blocked.
func (g *Guard) standingJudgement(r *http.Request) *Judgement {
	before, _ := caddyhttp.GetVar(r.Context(), Var).(*Judgement)
	// With ForwardAuth, an earlier judgement is about the proxy's request, not about the described
	// request.
	if before == nil || !before.isAnnounced || g.ForwardAuth != nil {
		return nil
	}
	if _, failed := r.Context().Value(caddyhttp.ErrorCtxKey).(error); !failed && before.Action != judge.Blocked {
		return nil
	}
	return before
}

// hasAccessLog reports whether the server of a request writes an access log. Only then are extra log
// fields worth their three allocations.
func hasAccessLog(ctx context.Context) bool {
	server, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	return !ok || server.Logs != nil
}

// clearPlaceholders makes all placeholders of the guard empty for a request without a judgement.
// Otherwise a header with a placeholder would show the placeholder's name. It does not allocate.
func clearPlaceholders(r *http.Request) {
	if repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		repl.Map(emptyPlaceholder)
	}
}

// metricsLabel returns the metrics label of the judgement's crawler. Clients can invent names, so
// only names of the registry or of the robots.txt are labels.
func (g *Guard) metricsLabel(j *Judgement) string {
	return g.state.Metrics.HostMetrics(j.Site.Label).CrawlerLabel(j.KnownName(), j.GroupNamesClient, j.Verification)
}

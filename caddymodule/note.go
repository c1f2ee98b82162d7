package caddymodule

import (
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// judgementVar is the request variable in which matchers find the judgement.
const judgementVar = "robots_guard.judgement"

// note counts a judgement, logs it and makes it available to whatever handles
// the request next.
func (g *guard) note(r *http.Request, j *judgement) {
	crawler := g.labelOf(j)
	if g.app.Verify != nil && j.client.Crawler != nil {
		g.metrics.checkedBy(j.proof, j.identity)
	}
	g.metrics.requests.count(j, crawler)

	ctx := r.Context()
	caddyhttp.SetVar(ctx, judgementVar, j)
	if repl, ok := ctx.Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		repl.Map(j.placeholder)
	}
	if extra, ok := ctx.Value(caddyhttp.ExtraLogFieldsCtxKey).(*caddyhttp.ExtraLogFields); ok {
		extra.Set(zap.Object("robots_guard", j))
	}
	g.record(r, j)
	if j.action != actionNone {
		g.logViolation(r, j, crawler)
		g.emitViolation(r, j, crawler)
	}
}

// noteNobody makes the placeholders empty for a request that was not judged:
// else a header made of them would carry their names. It does not allocate.
func noteNobody(r *http.Request) {
	if repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		repl.Map(noPlaceholder)
	}
}

// labelOf returns the crawler label of a judgement. Only names that the
// registry or the robots.txt spells out can be labels; clients can invent all
// others.
func (g *guard) labelOf(j *judgement) string {
	if j.identity == identitySpoofed {
		return spoofedLabel
	}
	name := j.knownName()
	if name == "" {
		return otherLabel
	}
	return g.state.labels.crawler(j.site.label, name, j.named)
}

// Bounds of what a log line repeats of a request, in bytes.
const (
	maxLoggedTarget    = 1024
	maxLoggedUserAgent = 512
)

// logViolation writes a line about a request outside the robots.txt, unless
// the crawler has had its share.
func (g *guard) logViolation(r *http.Request, j *judgement, crawler string) {
	suppressed, ok := g.state.violations.line(j.site.label, crawler)
	if !ok {
		return
	}
	level := zapcore.InfoLevel
	if g.enforce {
		level = zapcore.WarnLevel
	}
	message := "request outside robots.txt"
	switch {
	case j.closed:
		message = "request while robots.txt cannot be read"
	case j.liar:
		message = "request under a false name"
	}
	c := g.logger.Check(level, message)
	if c == nil {
		return
	}
	clientIP, _ := caddyhttp.GetVar(r.Context(), caddyhttp.ClientIPVarKey).(string)
	read, at := g.hasRead(r, j)
	readAt := zap.Skip()
	if !at.IsZero() {
		readAt = zap.Time("robots_read_at", at)
	}
	c.Write(
		zap.Inline(j),
		zap.String("host", shortened(r.Host, maxHost)),
		zap.String("method", r.Method),
		zap.String("uri", shortened(j.target, maxLoggedTarget)),
		zap.String("client_ip", clientIP),
		zap.String("user_agent", shortened(userAgentOf(r), maxLoggedUserAgent)),
		zap.String("robots_read", read),
		readAt,
		zap.Uint64("suppressed", suppressed),
	)
}

// logSettled tells the owner when the robots.txt was read, changed or could
// not be read. Hosts that only clients name are worth a debug line only.
func (g *guard) logSettled(s site, before, after policy.Standing, changed bool) {
	level, message := zapcore.DebugLevel, "robots.txt read"
	switch {
	case after.Failures == 1:
		level, message = zapcore.WarnLevel, "robots.txt cannot be read"
	case after.Failures > 1:
		message = "robots.txt still cannot be read"
	case before.Failures > 0:
		level, message = zapcore.InfoLevel, "robots.txt can be read again"
	case changed && before.Good != nil:
		level, message = zapcore.InfoLevel, "robots.txt changed"
	case changed:
		level = zapcore.InfoLevel
	}
	if s.segment == policy.Invented {
		level = zapcore.DebugLevel
	}
	c := g.logger.Check(level, message)
	if c == nil {
		return
	}
	fields := []zap.Field{
		zap.String("site", s.key.String()),
		zap.Stringer("meaning", after.Last),
		zap.Time("next_attempt", after.Due),
	}
	if after.Err != nil {
		fields = append(fields, zap.Error(after.Err))
	}
	if after.Good != nil {
		findings, more := after.Good.Robots.Findings()
		fields = append(fields,
			zap.Int("status", after.Good.Status),
			zap.Int("rules", after.Good.Robots.RuleCount()),
			zap.Int("findings", len(findings)+more),
			zap.Time("last_read", after.Good.LastRead))
	}
	c.Write(fields...)
}

// logRefused warns that the guard is refused the robots.txt that clients are
// served.
func (g *guard) logRefused(s site, answer policy.Answer) {
	level := zapcore.WarnLevel
	if s.segment == policy.Invented {
		level = zapcore.DebugLevel
	}
	if c := g.logger.Check(level, "the site refuses its robots.txt to the guard and serves it to clients; what they are served is used"); c != nil {
		c.Write(zap.String("site", s.key.String()), zap.Int("status", answer.Status), zap.Error(answer.Err),
			zap.String("advice", "let 127.0.0.1 through to /robots.txt in what stands before robots_guard: a firewall, an address list, a rate limit"))
	}
}

// shortened bounds a string from a client.
func shortened(s string, most int) string {
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

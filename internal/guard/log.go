package guard

import (
	"net/http"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/lint"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// These are bounds of fields of a log line, in bytes.
const (
	maxLoggedTarget    = 1024
	maxLoggedUserAgent = 512
)

// logViolation logs a request that violates robots.txt or has a spoofed name. The number of these
// lines is limited by crawler and host.
func (g *Guard) logViolation(r *http.Request, j *Judgement, crawler string) {
	suppressed, ok := g.state.violations.allowMessage(j.Site.Label, crawler)
	if !ok {
		return
	}
	level := zapcore.InfoLevel
	if g.Settings.Enforce && g.Settings.EnforceIncludes(j.Client) {
		level = zapcore.WarnLevel
	}
	message := "request disallowed by robots.txt"
	switch {
	case j.Reason == judge.ReasonSiteClosed:
		message = "request while robots.txt is unreachable"
	case j.OnlySpoofed:
		message = "request with a spoofed name"
	}
	c := g.Logger.Check(level, message)
	if c == nil {
		return
	}
	read, at := g.describeLastRobotsFetch(r, j)
	readField, readAt := zap.Skip(), zap.Skip()
	if read != "" {
		readField = zap.String("robots_read", read)
	}
	if !at.IsZero() {
		readAt = zap.Time("robots_read_at", at)
	}
	c.Write(
		zap.Inline(j),
		site.RequestLogField(r),
		readField,
		readAt,
		zap.Uint64("suppressed", suppressed),
	)
}

// logFetched logs the result of a fetch: the robots.txt was read, has changed, or cannot be
// fetched. takesEffect is when the grace of previous versions ends, or the zero time. The level for
// unknown hosts is debug.
func (g *Guard) logFetched(s *site.Site, before, after policy.State, changed bool, takesEffect time.Time) {
	level, message := zapcore.DebugLevel, "robots.txt read"
	switch {
	case after.FailureCount == 1:
		level, message = zapcore.WarnLevel, "robots.txt cannot be read"
	case after.FailureCount > 1:
		message = "robots.txt still cannot be read"
	case before.FailureCount > 0:
		level, message = zapcore.InfoLevel, "robots.txt can be read again"
	case changed && before.Current != nil:
		level, message = zapcore.InfoLevel, "robots.txt changed"
	case changed:
		level = zapcore.InfoLevel
	}
	if s.CacheSegment == policy.UnknownHosts {
		level = zapcore.DebugLevel
	}
	c := g.Logger.Check(level, message)
	if c == nil {
		return
	}
	fields := []zap.Field{
		zap.String("site", s.Key.String()),
		zap.Stringer("meaning", after.LastResult),
		zap.Time("next_attempt", after.NextFetch),
	}
	if trouble := report.DescribeFetchProblem(&after); trouble != "" {
		fields = append(fields, zap.String("error", trouble))
	}
	if !takesEffect.IsZero() {
		fields = append(fields, zap.Time("takes_effect", takesEffect))
	}
	if after.Current != nil {
		fields = append(fields,
			zap.Int("status", after.Current.Status),
			zap.Int("rules", after.Current.Robots.RuleCount()),
			zap.Int("findings", g.state.LintFindings(s.Key, after.Current).TotalCount()),
			zap.Time("last_read", after.Current.LastFetched))
	}
	c.Write(fields...)
}

// logRefused warns about a site that refuses its robots.txt to the guard but serves it to clients.
func (g *Guard) logRefused(s *site.Site, status int) {
	suppressed, ok := g.state.warningLimits.allowMessage(s.Label, "refused")
	if !ok {
		return
	}
	level := zapcore.WarnLevel
	if s.CacheSegment == policy.UnknownHosts {
		level = zapcore.DebugLevel
	}
	if c := g.Logger.Check(level, "the site refuses robots.txt to the guard and serves it to clients; nothing is enforced"); c != nil {
		c.Write(zap.String("site", s.Key.String()), zap.Int("status", status), zap.Uint64("suppressed", suppressed),
			zap.String("advice", "allow /robots.txt in the firewall, address list or rate limit that refuses the request"))
	}
}

// logFindings logs the number of lint findings of a new version and the most severe finding. For
// unknown hosts the level is debug.
func (g *Guard) logFindings(s *site.Site, v *policy.Version) {
	if s.CacheSegment == policy.UnknownHosts && !g.Logger.Core().Enabled(zapcore.DebugLevel) {
		return // The line would not be written.
	}
	found := g.state.LintFindings(s.Key, v)
	worst := mostSevereFinding(found)
	if worst == nil {
		return
	}
	level := zapcore.InfoLevel
	if worst.Severity >= policy.Warning {
		level = zapcore.WarnLevel
	}
	if s.CacheSegment == policy.UnknownHosts {
		level = zapcore.DebugLevel
	}
	if c := g.Logger.Check(level, "robots.txt has findings"); c != nil {
		errors, warnings := found.SeverityCount(policy.Error), found.SeverityCount(policy.Warning)
		c.Write(zap.String("site", s.Key.String()),
			zap.Int("errors", errors), zap.Int("warnings", warnings), zap.Int("infos", found.TotalCount()-errors-warnings),
			zap.String("code", string(worst.Code)), zap.Int("line", worst.Line), zap.String("worst", worst.Message),
			zap.String("advice", "run caddy robots-guard lint, or open the dashboard, to see all findings"))
	}
}

// mostSevereFinding returns the first of the most severe findings, or nil.
func mostSevereFinding(r *lint.Report) (worst *lint.Finding) {
	for i := range r.Findings {
		if worst == nil || r.Findings[i].Severity > worst.Severity {
			worst = &r.Findings[i]
		}
	}
	return worst
}

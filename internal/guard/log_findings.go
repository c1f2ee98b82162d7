package guard

import (
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/robotsguard/caddy-robots-guard/internal/lint"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// logFindings logs the number of lint findings of a new version and the most severe one. For unknown
// hosts the level is debug.
func (g *Guard) logFindings(s *site.Site, v *policy.Version) {
	if s.Segment == policy.UnknownHosts && !g.Logger.Core().Enabled(zapcore.DebugLevel) {
		return // nobody would read it
	}
	found := g.shared.Findings(s.Key, v)
	worst := worstOf(found)
	if worst == nil {
		return
	}
	level := zapcore.InfoLevel
	if worst.Severity >= policy.Warning {
		level = zapcore.WarnLevel
	}
	if s.Segment == policy.UnknownHosts {
		level = zapcore.DebugLevel
	}
	if c := g.Logger.Check(level, "robots.txt has findings"); c != nil {
		errors, warnings := found.Count(policy.Error), found.Count(policy.Warning)
		c.Write(zap.String("site", s.Key.String()),
			zap.Int("errors", errors), zap.Int("warnings", warnings), zap.Int("infos", found.Total()-errors-warnings),
			zap.String("code", string(worst.Code)), zap.Int("line", worst.Line), zap.String("worst", worst.Message),
			zap.String("advice", "run caddy robots-guard lint, or open the dashboard, to see all findings"))
	}
}

// worstOf returns the first of the most severe findings, or nil.
func worstOf(r *lint.Report) (worst *lint.Finding) {
	for i := range r.Findings {
		if worst == nil || r.Findings[i].Severity > worst.Severity {
			worst = &r.Findings[i]
		}
	}
	return worst
}

package dashboard

import "github.com/robotsguard/caddy-robots-guard/internal/report"

// Views provides the data of the dashboard. [report.Source] implements it. The bool results report
// whether the site or crawler exists. Lists have at most limit rows, after the first after rows.
type Views interface {
	Summary(report.Filter) report.Summary
	Crawlers(f report.Filter, after, limit int) report.Crawlers
	Crawler(f report.Filter, id string) (report.CrawlerDetail, bool)
	Violations(f report.Filter, after, limit int) report.Violations
	Robots(report.Filter) (report.Robots, bool)
	Impact(report.Filter) report.EnforceImpact
	ResponseAudit(report.Filter) report.ResponseAudit
	Shadow(report.Filter) report.ShadowTrials
	ManagedRobots(report.Filter) (report.ManagedRobots, bool)
	Evidence(f report.Filter, id string) (report.Evidence, bool)
}

// These are bounds of a page of a list.
const (
	defaultLimit = 100
	maxLimit     = 1000
)

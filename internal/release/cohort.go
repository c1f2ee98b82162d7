package release

import (
	"cmp"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/publication"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// trialOf returns what some are served of a candidate that is tried.
func (r *Release) trialOf(c *publication.Candidate, tried *managed.Schedule) managed.Trial {
	switch {
	case c == nil:
	case c.Stage == publication.Hosts:
		return managed.Trial{Schedule: tried, Hosts: c.Rollout.Hosts}
	case c.Stage == publication.Crawlers:
		return managed.Trial{Schedule: tried, ServedTo: r.cohort(&c.Change, c.Rollout.Percent)}
	}
	return managed.Trial{}
}

// cohort returns what tells which operators are served a change that so many percent
// of them have.
func (r *Release) cohort(c *publication.Change, percent int) func(operator string) bool {
	searches := operatorsOf(searchEngines(r.Registry))
	return func(operator string) bool { return c.IsServed(operator, searches[operator], percent) }
}

// operatorsOf returns who runs some crawlers. One without an operator stands for
// itself.
func operatorsOf(crawlers []*uaident.Crawler) map[string]bool {
	operators := make(map[string]bool, len(crawlers))
	for _, c := range crawlers {
		operators[cmp.Or(c.Operator, c.Token)] = true
	}
	return operators
}

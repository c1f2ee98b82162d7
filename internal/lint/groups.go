package lint

import (
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// disallowsAll reports whether the decisive rule of a verdict disallows the whole site.
func disallowsAll(v policy.Verdict) bool {
	if v.Allowed {
		return false
	}
	switch v.Rule.CanonicalPath() {
	case "/", "/*", "*":
		return true
	}
	return false
}

// unmatchedPath is a path that only a rule for the whole site matches.
const unmatchedPath = "/a-page-that-no-rule-is-about"

// checkGroups adds findings about groups that allow or disallow more than their authors may expect.
func (c *checker) checkGroups() {
	c.checkSearchEngines()
	star := c.robots.Select(true)
	if v := star.Judge(unmatchedPath); disallowsAll(v) && !c.robots.NamesToken("AdsBot-Google") {
		c.addFinding(AdsCrawlersIgnoreWildcard, v.Group.Line, c.lineByNumber(v.Group.Line).valueColumn(),
			"AdsBot-Google and Mediapartners-Google ignore the * group; name them to disallow URLs for them")
	}
	for _, g := range c.groups {
		if len(g.Agents) > 0 && c.emptyGroupAllowsSite(g.Agents[0].Line) {
			a := g.Agents[0]
			c.addValueFinding(EmptyGroupAllowsSite, a.Line, "%s has a group without rules and does not read the * group, so it may fetch the URLs that * disallows; repeat the rules here", quoteExcerpt(a.Name))
		}
	}
	c.checkCrawlersInTwoGroups()
}

// emptyGroupAllowsSite reports whether the group that begins at a line has no rules, and so allows URLs
// that the * group disallows.
func (c *checker) emptyGroupAllowsSite(line int) bool {
	if c.emptyGroups == nil {
		c.emptyGroups = c.groupsWithoutRules()
	}
	return c.emptyGroups[line]
}

// groupsWithoutRules maps the first line of each group without rules to the result of
// emptyGroupAllowsSite.
func (c *checker) groupsWithoutRules() map[int]bool {
	found := make(map[int]bool)
	starForbids := slices.ContainsFunc(c.robots.Select(true).Rules(), func(r policy.Rule) bool {
		return !r.Allow && r.CanonicalPath() != ""
	})
	if !starForbids {
		return found
	}
	ruled := make(map[string]bool) // These are names with a rule in any group.
	for _, g := range c.groups {
		for _, a := range g.Agents {
			if len(g.Rules) > 0 {
				ruled[strings.ToLower(trimVersionAndStar(a.Name))] = true
			}
		}
	}
	for _, g := range c.groups {
		if len(g.Agents) > 0 && len(g.Rules) == 0 {
			found[g.Agents[0].Line] = !slices.ContainsFunc(g.Agents, func(a policy.Agent) bool {
				return a.Name == "" || a.Name[0] == '*' || policy.IsTraining(a.Name) || ruled[strings.ToLower(trimVersionAndStar(a.Name))]
			})
		}
	}
	return found
}

// checkCrawlersInTwoGroups adds a finding if two groups with different rules have different names
// of the same crawler.
func (c *checker) checkCrawlersInTwoGroups() {
	// This is the first user-agent line of a crawler, by its token in the registry.
	first := make(map[string]policy.Agent)
	group := make(map[string]int)
	for i, g := range c.groups {
		for _, a := range g.Agents {
			crawler, token := findCrawler(a.Name)
			if crawler == nil || !crawler.Class.IsCrawler() {
				continue
			}
			before, ok := first[crawler.Token]
			if !ok {
				first[crawler.Token], group[crawler.Token] = a, i
				continue
			}
			_, named := findCrawler(before.Name)
			if group[crawler.Token] != i && !strings.EqualFold(token, named) && !equalRules(g.Rules, c.groups[group[crawler.Token]].Rules) {
				c.addValueFinding(CrawlerInTwoGroups, a.Line, "%s and %s in line %d name the same crawler, which obeys only one of the two groups; put both names above the same rules",
					quoteExcerpt(token), quoteExcerpt(named), before.Line)
			}
		}
	}
}

// equalRules reports whether two groups have the same rules in the same order.
func equalRules(a, b []policy.Rule) bool {
	return slices.EqualFunc(a, b, func(a, b policy.Rule) bool {
		return a.Allow == b.Allow && a.CanonicalPath() == b.CanonicalPath()
	})
}

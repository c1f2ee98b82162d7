package managed

import (
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// groupNames has the names by which a crawler selects its group. The first is its own name.
type groupNames []string

// groupNamesOf returns the names of a registered crawler.
func groupNamesOf(c *uaident.Crawler) groupNames {
	return slices.Concat(groupNames{c.Token}, c.Aliases, c.Fallback)
}

// groupNames returns the names by which the crawler of some rules selects its group.
func (w *crawlerRules) groupNames() groupNames {
	switch {
	case w.name == AnyCrawler:
		return nil
	case w.crawler != nil:
		return groupNamesOf(w.crawler)
	}
	return groupNames{w.name}
}

// findInheritors finds crawlers that may obey a new group although no rule names them. For example,
// Googlebot-Image obeys a group for Googlebot if it has no group itself. Crawlers that share a name
// in every file are skipped: a group for "Sogou web spider" also names Sogou.
func (p *Plan) findInheritors(crawlers []groupNames) {
	if len(p.byCrawler) == 0 {
		return
	}
	for _, names := range crawlers {
		if len(names) == 1 || p.byCrawler[strings.ToLower(names[0])] != nil {
			continue
		}
		if slices.ContainsFunc(names[1:], func(name string) bool { return p.byCrawler[strings.ToLower(name)] != nil }) {
			p.inheritors = append(p.inheritors, names)
		}
	}
}

// inherits reports whether a crawler without a rule would obey a new group. robots has the groups of the base.
func (p *Plan) inherits(names groupNames, robots *policy.Robots) bool {
	for i, name := range names {
		if p.byCrawler[strings.ToLower(name)] != nil {
			return i > 0
		}
		if robots.Named(name) {
			return false
		}
	}
	return false
}

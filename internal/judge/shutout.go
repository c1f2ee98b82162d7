package judge

import (
	"slices"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// ServedPage is a page that a search engine was served.
type ServedPage struct {
	Crawler  string   // its name
	Chain    []string // the names by which it looks for its group
	Wildcard bool     // whether the * group is meant for it
	Target   string   // the path and query, as requested
}

// Subject returns how the crawler of the page is found in a robots.txt.
func (p *ServedPage) Subject() Subject {
	known := uaident.Default().Lookup(p.Crawler)
	return Subject{Chain: p.Chain, Wildcard: p.Wildcard, Forgiving: known != nil && known.Forgiving()}
}

// PageOf returns a page as a crawler requests it.
func PageOf(c *uaident.Crawler, target string) ServedPage {
	return ServedPage{Crawler: c.Token, Chain: slices.Concat([]string{c.Token}, c.Aliases, c.Fallback), Wildcard: c.JudgedByWildcard(), Target: target}
}

// Verdict returns what a robots.txt says about the page to its crawler.
func (p *ServedPage) Verdict(robots *policy.Robots, keepSlashes bool) policy.Verdict {
	var target policy.Target
	target.Set(p.Target, keepSlashes)
	return p.Subject().Verdict(robots, &target)
}

// Forbids reports whether a robots.txt disallows the page for its crawler.
func (p *ServedPage) Forbids(robots *policy.Robots, keepSlashes bool) bool {
	return !p.Verdict(robots, keepSlashes).Allowed
}

// Served is what a new robots.txt is compared by.
type Served struct {
	Engines     []*uaident.Crawler // that may not lose the page /
	Pages       []ServedPage       // that may not be lost
	KeepSlashes bool               // whether slashes in a row in a path count as written
}

// ShutOut is what a new robots.txt newly forbids to search engines.
type ShutOut struct {
	Engines []string // that may not fetch / any more, by name
	Pages   []int    // the indices of the pages in [Served] that their crawlers may not fetch any more
}

// IsEmpty reports whether nothing is newly forbidden.
func (s *ShutOut) IsEmpty() bool { return len(s.Engines)+len(s.Pages) == 0 }

// ShutsOutSearch compares two versions of a robots.txt and returns what the second
// newly disallows for search engines: the page /, or a page that they were served. The
// change guard, the changes of robots_txt and their trials, alerts and diff go by it.
func ShutsOutSearch(before, after *policy.Robots, served Served) (out ShutOut) {
	for _, c := range served.Engines {
		if root := PageOf(c, "/"); root.Forbids(after, served.KeepSlashes) && !root.Forbids(before, served.KeepSlashes) {
			out.Engines = append(out.Engines, c.Token)
		}
	}
	for i := range served.Pages {
		if p := &served.Pages[i]; p.Forbids(after, served.KeepSlashes) && !p.Forbids(before, served.KeepSlashes) {
			out.Pages = append(out.Pages, i)
		}
	}
	return out
}

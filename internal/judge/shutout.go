package judge

import (
	"slices"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// ServedPage is a page served to a search engine.
type ServedPage struct {
	Crawler         string   // Crawler is the name of the crawler that got the page.
	Names           []string // Names are the names that select the crawler's group.
	WildcardApplies bool     // WildcardApplies is true if the * group applies to the crawler.
	Target          string   // Target is the path and query, as requested.
}

// GroupQuery returns the query for the group of the crawler that was served the page.
func (p *ServedPage) GroupQuery() GroupQuery {
	known := uaident.Default().Lookup(p.Crawler)
	return GroupQuery{Names: p.Names, WildcardApplies: p.WildcardApplies, LenientKeys: known != nil && known.ParsesLeniently()}
}

// NewServedPage returns the page at a target as served to a crawler.
func NewServedPage(c *uaident.Crawler, target string) ServedPage {
	return ServedPage{Crawler: c.Token, Names: slices.Concat([]string{c.Token}, c.Aliases, c.Fallback), WildcardApplies: c.WildcardApplies(), Target: target}
}

// Verdict returns the verdict of a robots.txt about the page for the crawler that was served the
// page.
func (p *ServedPage) Verdict(robots *policy.Robots, keepSlashes bool) policy.Verdict {
	var target policy.Target
	target.Set(p.Target, keepSlashes)
	return p.GroupQuery().Verdict(robots, &target)
}

// Forbids reports whether a robots.txt disallows the page for the crawler that was served the page.
func (p *ServedPage) Forbids(robots *policy.Robots, keepSlashes bool) bool {
	return !p.Verdict(robots, keepSlashes).Allowed
}

// ProtectedSearchTraffic has the engines and pages that a new robots.txt must not shut out.
type ProtectedSearchTraffic struct {
	Engines     []*uaident.Crawler // These engines must be able to fetch /.
	Pages       []ServedPage       // These pages must stay allowed.
	KeepSlashes bool               // KeepSlashes compares paths without merging adjacent slashes.
}

// ShutOut lists what a new robots.txt newly disallows for search engines.
type ShutOut struct {
	Engines []string // Engines are the names of the engines that can no longer fetch /.
	Pages   []int    // Pages are the indices of newly disallowed pages in [ProtectedSearchTraffic].
}

// IsEmpty reports whether nothing is newly disallowed.
func (s *ShutOut) IsEmpty() bool { return len(s.Engines)+len(s.Pages) == 0 }

// FindShutOut compares two versions of a robots.txt. FindShutOut returns the engines for which
// after newly disallows the page /, and the served pages that after newly disallows. The change
// guard, the changes of robots_txt and their trials, alerts and diff use it.
func FindShutOut(before, after *policy.Robots, served ProtectedSearchTraffic) (out ShutOut) {
	for _, c := range served.Engines {
		if root := NewServedPage(c, "/"); root.Forbids(after, served.KeepSlashes) && !root.Forbids(before, served.KeepSlashes) {
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

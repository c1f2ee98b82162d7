package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// disallowedEngines are the search engines for which a rule disallows the whole site.
type disallowedEngines struct {
	rule    policy.Rule
	engines []string
}

// checkSearchEngines adds a finding if search engines may not fetch any page. If the file names the
// engine, the block is assumed to be intended.
func (c *checker) checkSearchEngines() {
	var target policy.Target
	target.Set(unmatchedPath, false)
	var others []disallowedEngines // This has one element for each rule that disallows engines.
	var named disallowedEngines    // These engines are disallowed by groups with their names.
	for _, engine := range judge.SearchEngines() {
		q := judge.Request{Client: uaident.Identity{Token: engine.Token, Crawler: engine, Class: engine.Class}}
		v := q.GroupQuery(nil, engine.WildcardApplies()).Verdict(c.robots, &target)
		at := slices.IndexFunc(others, func(s disallowedEngines) bool { return s.rule.Line == v.Rule.Line })
		switch {
		case !disallowsAll(v):
		case judge.NamesCrawler(v.Group.Name, engine):
			if len(named.engines) == 0 || v.Rule.Line < named.rule.Line {
				named.rule = v.Rule
			}
			named.engines = append(named.engines, engine.Token)
		case at >= 0:
			others[at].engines = append(others[at].engines, engine.Token)
		default:
			others = append(others, disallowedEngines{v.Rule, []string{engine.Token}})
		}
	}
	for _, s := range others {
		c.addFinding(SearchEnginesDisallowed, s.rule.Line, c.lineByNumber(s.rule.Line).keyColumn(), "%s disallows the whole site for %s; if this is not a staging site, remove the rule or give these search engines a group of their own",
			quoteExcerpt(s.rule.String()), joinEngineNames(s.engines))
	}
	if len(named.engines) > 0 {
		c.addFinding(NamedSearchEnginesDisallowed, named.rule.Line, c.lineByNumber(named.rule.Line).keyColumn(), "the file disallows the whole site for %s by name, which seems intended; if not, remove the group",
			joinEngineNames(named.engines))
	}
}

// joinEngineNames returns the names of search engines for a message. Of more than three, it names
// the first three, which are the best known.
func joinEngineNames(engines []string) string {
	const most = 3
	last := len(engines) - 1
	switch {
	case last == 0:
		return engines[0]
	case last < most:
		return strings.Join(engines[:last], ", ") + " and " + engines[last]
	}
	return fmt.Sprintf("%s and %d more search engines", strings.Join(engines[:most], ", "), len(engines)-most)
}

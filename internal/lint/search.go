package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// shutOutEngines lists search engines for which the whole site is disallowed.
type shutOutEngines struct {
	rule    policy.Rule
	engines []string
}

// checkSearchEngines finds search engines with all pages disallowed. If the file names the engine,
// the block is assumed to be intended.
func (c *checker) checkSearchEngines() {
	var target policy.Target
	target.Set(unmatchedPath, false)
	var others []shutOutEngines // by rule
	var named shutOutEngines    // by groups that name them
	for _, engine := range judge.SearchEngines() {
		q := judge.Request{Client: uaident.Identity{Token: engine.Token, Crawler: engine, Class: engine.Class}}
		v := q.GroupQuery(nil, engine.WildcardApplies()).Verdict(c.robots, &target)
		at := slices.IndexFunc(others, func(s shutOutEngines) bool { return s.rule.Line == v.Rule.Line })
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
			others = append(others, shutOutEngines{v.Rule, []string{engine.Token}})
		}
	}
	for _, s := range others {
		c.addFinding(SearchShutOut, s.rule.Line, c.lineAt(s.rule.Line).keyColumn(), "%s disallows the whole site for %s; if this is not a staging site, remove the rule or give them groups of their own",
			quoteExcerpt(s.rule.String()), listEngines(s.engines))
	}
	if len(named.engines) > 0 {
		c.addFinding(SearchForbidden, named.rule.Line, c.lineAt(named.rule.Line).keyColumn(), "the file disallows the whole site for %s by name, which seems intended; if not, remove the group",
			listEngines(named.engines))
	}
}

// listEngines lists search engines. A long list has only the best known.
func listEngines(engines []string) string {
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

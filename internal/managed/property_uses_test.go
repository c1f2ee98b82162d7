package managed

import (
	"math/rand/v2"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// The naive model of preferences has a value for each use and path of a crawler. If equal lines
// disagree, n wins.

func randomUse(r *rand.Rand) string {
	path := pick(r, []string{"", "", "/a ", "/b "})
	return path + pick(r, []string{"train-ai=n", "train-ai=y", "search=n, train-ai=n", "train-ai=n, search=y", "ai-use=n"})
}

// uses returns the preferences in lines, by path and use.
func uses(lines []string) map[string]string {
	said := make(map[string]string)
	for _, line := range lines {
		dictionary, ok := strings.CutPrefix(line, policy.ContentUsage+": ")
		if !ok {
			continue
		}
		path := ""
		if dictionary[0] == '/' {
			path, dictionary, _ = strings.Cut(dictionary, " ")
		}
		for _, part := range strings.Split(dictionary, ", ") {
			use, value, _ := strings.Cut(part, "=")
			if said[path+" "+use] != "n" {
				said[path+" "+use] = value
			}
		}
	}
	return said
}

// usesBy returns the preferences of the rules that are selected by about.
func usesBy(rules []Rule, about func(r Rule) bool) map[string]string {
	var lines []string
	for _, r := range rules {
		if r.ContentUsage != "" && about(r) {
			lines = append(lines, policy.ContentUsage+": "+r.ContentUsage)
		}
	}
	return uses(lines)
}

// over returns before, overwritten with said.
func over(said, before map[string]string) map[string]string {
	all := make(map[string]string)
	for _, m := range []map[string]string{before, said} {
		for use, value := range m {
			all[use] = value
		}
	}
	return all
}

// usesOf returns the preferences for a crawler. The order of priority is rules about the crawler, its
// group in the base, rules about all crawlers, and the * group of the base.
func usesOf(groups []modelGroup, rules []Rule, c *uaident.Crawler, name string) map[string]string {
	names := []string{name}
	if c != nil {
		names = crawlerGroupNames(c)
	}
	about := func(r Rule) bool {
		return len(r.For) > 0 && (strings.EqualFold(r.For[0], name) || c != nil && (c.Class.String() == r.For[0] || strings.EqualFold(c.Token, r.For[0])))
	}
	all := usesBy(rules, func(r Rule) bool { return len(r.For) == 0 })
	own := usesBy(rules, about)
	said := modelOf(groups, rules, c, name)
	for _, r := range rules {
		if r.ContentUsage == "" && about(r) && len(r.Paths) == 0 { // the group has only this rule
			return over(own, unless(disallowsWholeSite(said), all))
		}
	}
	for _, g := range groups {
		for _, n := range names {
			for _, named := range g.names {
				if strings.EqualFold(named, n) {
					return over(own, over(uses(obeys(groups, names)), unless(disallowsWholeSite(said), all)))
				}
			}
		}
	}
	others := usesBy(rules, func(r Rule) bool { return len(r.For) > 0 && r.For[0] == AnyCrawler })
	star := over(others, over(all, uses(obeys(groups, nil))))
	for _, r := range rules {
		if r.ContentUsage == "" && r.For[0] == AnyCrawler && len(r.Paths) == 0 {
			star = over(others, all)
		}
	}
	return over(own, star)
}

func unless(not bool, said map[string]string) map[string]string {
	if not {
		return nil
	}
	return said
}

// groupsOf converts the groups of a file to the model.
func groupsOf(robots *policy.Robots) (groups []modelGroup) {
	for _, g := range robots.Groups() {
		var m modelGroup
		for _, a := range g.Agents {
			m.names = append(m.names, a.Name)
		}
		groups = append(groups, m)
	}
	for _, r := range robots.Records() {
		if r.Group >= 0 {
			groups[r.Group].rules = append(groups[r.Group].rules, r.Key+": "+r.Value)
		}
	}
	return groups
}

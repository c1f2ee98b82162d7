package managed

import (
	"math/rand/v2"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// The naive model of preferences: what a crawler is told is a value for each use and
// path, and of equal ones any n is n.

func randomUse(r *rand.Rand) string {
	path := pick(r, []string{"", "", "/a ", "/b "})
	return path + pick(r, []string{"train-ai=n", "train-ai=y", "search=n, train-ai=n", "train-ai=n, search=y", "ai-use=n"})
}

// uses returns what lines say, by path and use.
func uses(lines []string) map[string]string {
	said := make(map[string]string)
	for _, line := range lines {
		dictionary, ok := strings.CutPrefix(line, contentUsage+": ")
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

// usesBy returns what those rules say that are about a crawler, or about all.
func usesBy(rules []Rule, about func(r Rule) bool) map[string]string {
	var lines []string
	for _, r := range rules {
		if r.Usage != "" && about(r) {
			lines = append(lines, contentUsage+": "+r.Usage)
		}
	}
	return uses(lines)
}

// over returns what is said where one thing takes the place of another.
func over(said, before map[string]string) map[string]string {
	all := make(map[string]string)
	for _, m := range []map[string]string{before, said} {
		for use, value := range m {
			all[use] = value
		}
	}
	return all
}

// usesOf returns what base and rules say to a crawler: rules about it hold before what
// the base says to it by name, that before rules about all, and these before what
// the base says to all.
func usesOf(groups []modelGroup, rules []Rule, c *uaident.Crawler, name string) map[string]string {
	names := []string{name}
	if c != nil {
		names = chainOf(c)
	}
	about := func(r Rule) bool {
		return len(r.For) > 0 && (strings.EqualFold(r.For[0], name) || c != nil && (c.Class.String() == r.For[0] || strings.EqualFold(c.Token, r.For[0])))
	}
	all := usesBy(rules, func(r Rule) bool { return len(r.For) == 0 })
	own := usesBy(rules, about)
	said := modelOf(groups, rules, c, name)
	for _, r := range rules {
		if r.Usage == "" && about(r) && len(r.Paths) == 0 { // its group says just that
			return over(own, unless(isClosed(said), all))
		}
	}
	for _, g := range groups {
		for _, n := range names {
			for _, named := range g.names {
				if strings.EqualFold(named, n) {
					return over(own, over(uses(obeys(groups, names)), unless(isClosed(said), all)))
				}
			}
		}
	}
	others := usesBy(rules, func(r Rule) bool { return len(r.For) > 0 && r.For[0] == Everybody })
	star := over(others, over(all, uses(obeys(groups, nil))))
	for _, r := range rules {
		if r.Usage == "" && r.For[0] == Everybody && len(r.Paths) == 0 {
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

// groupsOf returns the groups of a text as the model has them.
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

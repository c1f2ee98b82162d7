package managed

import (
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// chain has the names by which a crawler selects its group. The first is its own name.
type chain []string

// chainOf returns the names of a registered crawler.
func chainOf(c *uaident.Crawler) chain {
	return slices.Concat(chain{c.Token}, c.Aliases, c.Fallback)
}

// chain returns the names by which the crawler of a wish selects its group.
func (w *wish) chain() chain {
	switch {
	case w.name == Everybody:
		return nil
	case w.crawler != nil:
		return chainOf(w.crawler)
	}
	return chain{w.name}
}

// findBystanders finds crawlers that may obey a new group although no rule names them. For example,
// Googlebot-Image obeys a group for Googlebot if it has no group itself. Crawlers that share a name
// in every file are skipped: a group for "Sogou web spider" also names Sogou.
func (p *Plan) findBystanders(crawlers []chain) {
	if len(p.asked) == 0 {
		return
	}
	for _, names := range crawlers {
		if len(names) == 1 || p.asked[strings.ToLower(names[0])] != nil {
			continue
		}
		if slices.ContainsFunc(names[1:], func(name string) bool { return p.asked[strings.ToLower(name)] != nil }) {
			p.bystanders = append(p.bystanders, names)
		}
	}
}

// follows reports whether a bystander would obey a new group. robots has the groups of the base.
func (p *Plan) follows(names chain, robots *policy.Robots) bool {
	for i, name := range names {
		if p.asked[strings.ToLower(name)] != nil {
			return i > 0
		}
		if robots.Named(name) {
			return false
		}
	}
	return false
}

package managed

import (
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// chain is the names by which a crawler looks for its group, the first its own.
type chain []string

// chainOf returns the names of a known crawler.
func chainOf(c *uaident.Crawler) chain {
	return slices.Concat(chain{c.Token}, c.Aliases, c.Fallback)
}

// chain returns the names by which the crawler of a wish looks for its group.
func (w *wish) chain() chain {
	switch {
	case w.name == Everybody:
		return nil
	case w.crawler != nil:
		return chainOf(w.crawler)
	}
	return chain{w.name}
}

// findBystanders finds the crawlers that may obey a new group although no rule is
// about them, since they fall back on its name: Googlebot-Image obeys a group for
// Googlebot where it has none. What cannot be told apart by any text is left out: a
// group for "Sogou web spider" names Sogou, too.
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

// follows reports whether a bystander would obey a new group in a text, where the
// groups of the base are named as robots says.
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

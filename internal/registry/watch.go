package registry

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/identity"
	"github.com/robotsguard/caddy-robots-guard/internal/spelling"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// engines are the operators of search engines, in lower case.
type engines map[string]bool

func enginesOf(r *uaident.Registry) engines {
	e := engines{}
	for _, c := range r.Crawlers() {
		if c.Operator != "" && isEngine(&c) {
			e[strings.ToLower(c.Operator)] = true
		}
	}
	return e
}

func isEngine(c *uaident.Crawler) bool { return c.Class == uaident.Search && c.JudgedByWildcard() }

// watches reports whether to shut c out harms a site more than to let it in: it serves
// people or the owner, so that `*` is not meant for it, or is of a search engine's
// operator.
func (e engines) watches(c *uaident.Crawler) bool {
	return !c.JudgedByWildcard() || isEngine(c) || e[strings.ToLower(c.Operator)]
}

// suspicion returns what is odd about what another registry says of a crawler, "" for
// nothing.
func suspicion(c *uaident.Crawler, next *uaident.Registry, watched bool) string {
	now, who := next.Lookup(c.Token), "the crawler "+c.Token
	if isEngine(c) {
		who = "the search engine " + c.Token
	}
	switch {
	case now == nil && (isEngine(c) || next.Identify(c.Token).Wildcard() != c.JudgedByWildcard()):
		return who + " is gone"
	case now == nil:
		return ""
	case now.JudgedByWildcard() && !c.JudgedByWildcard():
		return fmt.Sprintf("%s, of class %s, becomes one that the * group is meant for", c.Token, c.Class)
	case watched && now.Token != c.Token:
		return fmt.Sprintf("%s becomes %s", who, now.Token)
	case isEngine(c) && !isEngine(now):
		return fmt.Sprintf("%s becomes one of class %s", who, now.Class)
	case !now.JudgedByWildcard() && c.JudgedByWildcard():
		return fmt.Sprintf("%s, of class %s, becomes one that the * group is not meant for", c.Token, c.Class)
	case otherGroups(c, now):
		return who + " goes by other groups, or under another spelling"
	case now.RobotsLag.Most > max(c.RobotsLag.Most, policy.MaxAge):
		return fmt.Sprintf("%s may take %v to follow a change", who, now.RobotsLag.Most)
	}
	if said := lostName(c, next, watched); said != "" {
		return who + " " + said
	}
	if !watched {
		return ""
	}
	return otherThan(c, now, who)
}

// otherGroups reports whether requests of a crawler would be known by other signs, or be
// held to other groups of a robots.txt.
func otherGroups(c, now *uaident.Crawler) bool {
	return now.RobotsOnly != c.RobotsOnly || now.ExactCase != c.ExactCase || now.App != c.App || now.Family != c.Family ||
		!slices.Equal(now.Fallback, c.Fallback)
}

// otherThan returns what a registry says of a watched crawler otherwise, "" for nothing.
func otherThan(c, now *uaident.Crawler, who string) string {
	switch {
	case now.Class != c.Class || now.Wildcard != c.Wildcard || now.UserTriggered != c.UserTriggered:
		return fmt.Sprintf("%s, of class %s, becomes one of class %s, or for others", who, c.Class, now.Class)
	case !reflect.DeepEqual(now.Verification, c.Verification):
		return who + " is verified otherwise"
	case now.TrainsOnly() && !c.TrainsOnly():
		return who + " comes to do nothing but train models"
	case now.Operator != c.Operator:
		return fmt.Sprintf("%s, of %q, becomes one of %q", who, c.Operator, now.Operator)
	}
	for _, alias := range now.Aliases { // a group for it counts from now on
		if !spelling.Among(c.Aliases, alias) {
			return fmt.Sprintf("%s has another name, %s", who, alias)
		}
	}
	return ""
}

// lostName returns which alias is not the crawler's any more: none may be lost by one
// that is watched, and by another one not to somebody whom `*` treats otherwise.
func lostName(c *uaident.Crawler, next *uaident.Registry, watched bool) string {
	for _, alias := range c.Aliases {
		other := next.Lookup(alias)
		if other != nil && other.Token == c.Token {
			continue
		}
		judged := next.Identify(alias).Wildcard()
		if other != nil {
			judged = other.JudgedByWildcard()
		}
		if watched || judged != c.JudgedByWildcard() {
			return "loses its name " + alias
		}
	}
	return ""
}

// ofNames returns what is odd about the names of an entry that are new: whose requests
// they would take.
func ofNames(c *uaident.Crawler, old *uaident.Registry, engines engines) (why []string) {
	for _, name := range append([]string{c.Token}, c.Aliases...) {
		known := old.Lookup(name)
		if known != nil && known.ExactCase == (c.ExactCase && name == c.Token) {
			continue // it is told by what becomes of the one who has it
		}
		if known == nil {
			id := old.Identify(name)
			if id.Class == uaident.Browser {
				why = append(why, fmt.Sprintf("%q, a name of %s, begins like what browsers send", name, c.Token))
			}
			if id.Evidence == uaident.FromFamily {
				continue // as members of a family do
			}
			known = id.Crawler
		}
		if known != nil && known.Token != c.Token && (engines.watches(known) || known.JudgedByWildcard() != c.JudgedByWildcard()) {
			why = append(why, fmt.Sprintf("%q, a name of %s, takes requests of %s", name, c.Token, known.Token))
		}
	}
	return why
}

// ofSigners returns who comes to sign for all crawlers of an operator that was known.
func ofSigners(old, next *uaident.Registry) (why []string) {
	before, err := identity.AgentsOf(old)
	if err != nil {
		return []string{err.Error()}
	}
	after, err := identity.AgentsOf(next)
	if err != nil {
		return []string{err.Error()}
	}
	crawlers := old.Crawlers()
	for _, agent := range slices.Sorted(maps.Keys(after)) {
		operator := after[agent]
		known := slices.ContainsFunc(crawlers, func(c uaident.Crawler) bool { return c.Operator == operator })
		if before[agent] != operator && known {
			why = append(why, fmt.Sprintf("%s comes to sign for the crawlers of %s", agent, operator))
		}
	}
	return why
}

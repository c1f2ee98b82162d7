package policy

import (
	"strings"
	"sync"
)

// wellKnown has the rules of a choice for paths below /.well-known/, compiled on first use.
type wellKnown struct {
	once                               sync.Once
	extensionsIgnored, extensionsSplit *matcher // as in choice; nil without a disallow rule
}

// WellKnown returns the part of a * group that applies to paths below /.well-known/: its
// allow rules, and disallow rules that begin with /.well-known/. "Disallow: /" is not
// intended for the programs that fetch these paths (RFC 8615). It returns nil, which allows
// everything, without such a disallow rule.
func (s *Selection) WellKnown() *Selection {
	if s == nil {
		return nil
	}
	forgiving, strict := s.forgiving.wellKnown(), s.strict.wellKnown()
	if forgiving.choice == nil {
		return nil // both interpretations must disallow
	}
	return &Selection{forgiving: forgiving, strict: strict}
}

// wellKnown returns the part of one interpretation, or no choice without such a disallow
// rule.
func (s side) wellKnown() side {
	if s.choice == nil {
		return s
	}
	w := &s.choice.wellKnown
	w.once.Do(func() {
		w.extensionsIgnored = s.choice.wellKnownRules(false)
		w.extensionsSplit = w.extensionsIgnored
		if s.choice.extensionsSplit != s.choice.extensionsIgnored {
			w.extensionsSplit = s.choice.wellKnownRules(true)
		}
	})
	rules := w.extensionsIgnored
	if s.rules == s.choice.extensionsSplit {
		rules = w.extensionsSplit
	}
	if rules == nil {
		return side{}
	}
	return side{s.choice, rules}
}

// wellKnownRules compiles the rules, or returns nil without a disallow rule. extensionsSplit has
// the same meaning as for groupsOf.
func (c *choice) wellKnownRules(extensionsSplit bool) *matcher {
	r, disallows := c.robots, false
	var rules []int32
	for _, g := range r.groupsOf(c.agents, extensionsSplit) {
		for i := r.groups[g].ruleFrom; i < r.groups[g].ruleTo; i++ {
			x := r.rules[i]
			if !x.allow {
				if !strings.HasPrefix(canonicalRule(x.path), "/.well-known/") {
					continue
				}
				disallows = true
			}
			rules = append(rules, i)
		}
	}
	if !disallows {
		return nil
	}
	return newMatcher(r, rules)
}

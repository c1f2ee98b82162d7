package policy

import (
	"strings"
	"sync"
)

// wellKnown has the rules of a merged group for paths below /.well-known/, compiled on first use.
type wellKnown struct {
	once                               sync.Once
	extensionsIgnored, extensionsSplit *matcher // as in mergedGroup; nil without a disallow rule
}

// WellKnown returns the part of a * group that applies to paths below /.well-known/: its allow
// rules, and disallow rules that begin with /.well-known/. "Disallow: /" is not intended for the
// programs that fetch these paths (RFC 8615). WellKnown returns nil, which allows everything,
// without such a disallow rule.
func (s *SelectedGroup) WellKnown() *SelectedGroup {
	if s == nil {
		return nil
	}
	lenient, strict := s.lenient.wellKnown(), s.strict.wellKnown()
	if lenient.mergedGroup == nil {
		return nil // both interpretations must disallow
	}
	return &SelectedGroup{lenient: lenient, strict: strict}
}

// wellKnown returns the part of one interpretation, or no merged group without such a disallow
// rule.
func (s interpretation) wellKnown() interpretation {
	if s.mergedGroup == nil {
		return s
	}
	w := &s.mergedGroup.wellKnown
	w.once.Do(func() {
		w.extensionsIgnored = s.mergedGroup.wellKnownRules(false)
		w.extensionsSplit = w.extensionsIgnored
		if s.mergedGroup.extensionsSplit != s.mergedGroup.extensionsIgnored {
			w.extensionsSplit = s.mergedGroup.wellKnownRules(true)
		}
	})
	rules := w.extensionsIgnored
	if s.matcher == s.mergedGroup.extensionsSplit {
		rules = w.extensionsSplit
	}
	if rules == nil {
		return interpretation{}
	}
	return interpretation{s.mergedGroup, rules}
}

// wellKnownRules compiles the rules, or returns nil without a disallow rule. extensionsSplit has
// the same meaning as for groupsOf.
func (c *mergedGroup) wellKnownRules(extensionsSplit bool) *matcher {
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

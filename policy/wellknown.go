package policy

import (
	"strings"
	"sync"
)

// wellKnownMatchers has the rules of a compiledGroup for paths below /.well-known/, compiled on first use.
type wellKnownMatchers struct {
	once                               sync.Once
	extensionsIgnored, extensionsSplit *matcher // as in compiledGroup; nil without a disallow rule
}

// WellKnownGroup returns the part of a * group that applies to paths below /.well-known/: its allow
// rules, and disallow rules that begin with /.well-known/. "Disallow: /" is not intended for the
// programs that fetch these paths (RFC 8615). WellKnownGroup returns nil, which allows everything,
// without such a disallow rule.
func (s *SelectedGroup) WellKnownGroup() *SelectedGroup {
	if s == nil {
		return nil
	}
	lenient, strict := s.lenient.wellKnownPart(), s.strict.wellKnownPart()
	if lenient.compiledGroup == nil {
		return nil // both interpretations must disallow
	}
	return &SelectedGroup{lenient: lenient, strict: strict}
}

// wellKnownPart returns the part of one interpretation, or no compiledGroup without such a disallow
// rule.
func (s interpretation) wellKnownPart() interpretation {
	if s.compiledGroup == nil {
		return s
	}
	w := &s.compiledGroup.wellKnown
	w.once.Do(func() {
		w.extensionsIgnored = s.compiledGroup.compileWellKnown(false)
		w.extensionsSplit = w.extensionsIgnored
		if s.compiledGroup.extensionsSplit != s.compiledGroup.extensionsIgnored {
			w.extensionsSplit = s.compiledGroup.compileWellKnown(true)
		}
	})
	rules := w.extensionsIgnored
	if s.matcher == s.compiledGroup.extensionsSplit {
		rules = w.extensionsSplit
	}
	if rules == nil {
		return interpretation{}
	}
	return interpretation{s.compiledGroup, rules}
}

// compileWellKnown compiles the rules, or returns nil without a disallow rule. extensionsSplit has
// the same meaning as for groupsOfAgents.
func (c *compiledGroup) compileWellKnown(extensionsSplit bool) *matcher {
	r, disallows := c.robots, false
	var rules []int32
	for _, g := range r.groupsOfAgents(c.agents, extensionsSplit) {
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

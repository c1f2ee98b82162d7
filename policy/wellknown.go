package policy

import (
	"strings"
	"sync"
)

// wellKnownMatchers has the rules of a compiledGroup that apply to paths below /.well-known/,
// compiled on first use.
type wellKnownMatchers struct {
	once sync.Once
	// These have the rules of the two fields of compiledGroup. They are nil without a disallow rule.
	extensionsIgnored, extensionsSplit *matcher
}

// WellKnownGroup returns the rules of a * group that apply to paths below /.well-known/: its allow
// rules, and its disallow rules that begin with /.well-known/. Other rules, such as "Disallow: /",
// are not intended for the programs that fetch these paths (RFC 8615). Without such a disallow
// rule, WellKnownGroup returns nil, which allows everything.
func (s *SelectedGroup) WellKnownGroup() *SelectedGroup {
	if s == nil {
		return nil
	}
	lenient, strict := s.lenient.wellKnownPart(), s.strict.wellKnownPart()
	if lenient.compiledGroup == nil {
		return nil // Both interpretations must disallow.
	}
	return &SelectedGroup{lenient: lenient, strict: strict}
}

// wellKnownPart returns the interpretation with only the rules of WellKnownGroup, or the zero
// interpretation if these have no disallow rule.
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

// compileWellKnown compiles the rules of WellKnownGroup, or returns nil if these have no disallow
// rule. extensionsSplit has the same meaning as in groupsOfAgents.
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

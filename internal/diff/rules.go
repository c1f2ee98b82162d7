package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// rulesOfInterpretations returns the rules that apply by the lenient or by the strict
// interpretation, in the order of the file.
func rulesOfInterpretations(s *policy.SelectedGroup) []policy.Rule {
	forgiving, strict := s.LenientAndStrict()
	rules := append(forgiving.Rules(), strict.Rules()...)
	slices.SortStableFunc(rules, func(a, b policy.Rule) int { return cmp.Compare(a.Line, b.Line) })
	return slices.Compact(rules)
}

// ruleKey is a rule without its line number, for comparing rules.
type ruleKey struct {
	allow     bool
	canonical string
}

// missingRules returns the rules that other lacks, each once. missingRules ignores rules that match
// no URL.
func missingRules(rules, other []policy.Rule) []policy.Rule {
	have := make(map[ruleKey]bool)
	for _, r := range other {
		have[ruleKey{r.Allow, r.CanonicalPath()}] = true
	}
	var left []policy.Rule
	for _, r := range rules {
		k := ruleKey{r.Allow, r.CanonicalPath()}
		if k.canonical != "" && !have[k] {
			have[k] = true
			left = append(left, r)
		}
	}
	return left
}

// countAddedRules returns the number of rules in after whose group in before, with the same names,
// lacks the rule.
func countAddedRules(before, after *policy.Robots) int {
	type line struct {
		names string
		ruleKey
	}
	count := func(robots *policy.Robots, of func(line)) {
		for _, g := range robots.Groups() {
			var names []string
			for _, a := range g.Agents {
				names = append(names, strings.ToLower(a.Name))
			}
			slices.Sort(names)
			for _, r := range g.Rules {
				of(line{strings.Join(names, "\n"), ruleKey{r.Allow, r.CanonicalPath()}})
			}
		}
	}
	have := make(map[line]bool)
	count(before, func(l line) { have[l] = true })
	n := 0
	count(after, func(l line) {
		if !have[l] {
			n++
		}
	})
	return n
}

func formatRules(rules []policy.Rule) []string {
	list := []string{}
	for _, r := range rules[:min(len(rules), maxRules)] {
		list = append(list, r.String())
	}
	if n := len(rules) - len(list); n > 0 {
		list = append(list, fmt.Sprintf("(%d more)", n))
	}
	return list
}

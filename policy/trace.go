package policy

import (
	"cmp"
	"slices"
)

// Match is a rule that matches a target, with the data that decides its precedence.
type Match struct {
	Rule          Rule          // as written
	Group         Agent         // the user-agent line that chose the rule's group
	Normalization Normalization // of the first variant of the target that matched
	Length        int           // in bytes of the canonical form; the longest match decides
}

// MatchingRules returns all rules of the selection that match a variant of the target, by descending
// length and allow rules first among equals. The first rule decides, unless the variants are different paths.
// In that case a disallowed path decides. Matches tries every rule, to explain a verdict. An
// ambiguous selection uses the lenient interpretation. See [SelectedGroup.LenientAndStrict].
func (s *SelectedGroup) MatchingRules(t *Target) []Match {
	variants := t.variants()
	if s == nil || isRobotsTxt(variants) {
		return nil
	}
	var found []Match
	for _, i := range s.lenient.ruleIndices() {
		m := newMatcher(s.lenient.robots, []int32{i})
		for _, x := range variants {
			var out bestMatches
			work := newSearchBudget()
			m.addMatches(x.text, x.normalization, &work, &out)
			if deciding := cmp.Or(out.allow, out.disallow); deciding.length > 0 {
				found = append(found, Match{s.lenient.robots.exportedRule(i), s.lenient.selectingAgent(i), deciding.normalization, int(deciding.length)})
				break
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Match) int {
		if a.Length == b.Length && a.Rule.Allow != b.Rule.Allow {
			if a.Rule.Allow {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.Length, a.Length)
	})
	return found
}

// Rules returns all rules of the selection in file order, including empty rules, in the lenient
// interpretation. The result is nil for a nil SelectedGroup.
func (s *SelectedGroup) Rules() []Rule {
	if s == nil {
		return nil
	}
	return s.lenient.ruleLines()
}

// Agents returns the user-agent lines that selected the groups, in file order, in the lenient
// interpretation. The result is nil for a nil SelectedGroup.
func (s *SelectedGroup) Agents() []Agent {
	if s == nil {
		return nil
	}
	agents := make([]Agent, len(s.lenient.agents))
	for i, a := range s.lenient.agents {
		agents[i] = s.lenient.exportedAgent(a)
	}
	return agents
}

// CanonicalPath returns the canonical form of the rule's path, in which * matches any bytes and $ at
// the end matches the end of the target. The result is empty for a rule that matches nothing. The
// length in bytes is the precedence.
func (r Rule) CanonicalPath() string { return canonicalRule(r.Path) }

// TargetVariant is a target after a Normalization.
type TargetVariant struct {
	Text          string // in canonical form
	Normalization Normalization
}

// Variants returns copies of the variants of the target that are compared with rules.
func (t *Target) Variants() []TargetVariant {
	var variants []TargetVariant
	for _, x := range t.variants() {
		variants = append(variants, TargetVariant{string([]byte(x.text)), x.normalization})
	}
	return variants
}

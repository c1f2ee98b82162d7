package policy

import (
	"cmp"
	"slices"
)

// Match is a rule that matches a target, with the values that decide its precedence.
type Match struct {
	Rule          Rule          // Rule is the rule as written.
	Group         Agent         // Group is the user-agent line that selected the group of the rule.
	Normalization Normalization // Normalization is that of the first variant of the target that the rule matches.
	// Length is the length of the rule's canonical form in bytes. The longest match decides.
	Length int
}

// MatchingRules returns all rules of the group that match a variant of the target, the longest
// first, and allow rules first among equals. The first rule decides, unless the variants are
// different paths. In that case one disallowed path is enough to disallow the target. MatchingRules
// uses the lenient interpretation. For the other interpretation, see
// [SelectedGroup.LenientAndStrict]. It compares every rule, so it is slower than a verdict.
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

// Rules returns all rules of the group in file order, including rules without a path, in the
// lenient interpretation. The result is nil for a nil SelectedGroup.
func (s *SelectedGroup) Rules() []Rule {
	if s == nil {
		return nil
	}
	return s.lenient.ruleLines()
}

// Agents returns the user-agent lines that name the crawler, or the * lines if the * group applies,
// in file order, in the lenient interpretation. The result is nil for a nil SelectedGroup.
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

// CanonicalPath returns the canonical form of the rule's path, in which * matches any bytes and $
// at the end matches the end of the target. The result is empty for a rule that matches nothing.
// Its length in bytes is the precedence of the rule.
func (r Rule) CanonicalPath() string { return canonicalRule(r.Path) }

// TargetVariant is a spelling of a request target that rules are compared with.
type TargetVariant struct {
	Text          string        // Text is the path and query in canonical form.
	Normalization Normalization // Normalization has the operations that turn the target into the variant.
}

// Variants returns a copy of all variants of the target. The canonical form of the target as sent
// is the first.
func (t *Target) Variants() []TargetVariant {
	var variants []TargetVariant
	for _, x := range t.variants() {
		variants = append(variants, TargetVariant{string([]byte(x.text)), x.normalization})
	}
	return variants
}

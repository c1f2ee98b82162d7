package policy

import (
	"cmp"
	"slices"
)

// Match is a rule that a target matches, with what decides whether it wins.
type Match struct {
	Rule   Rule
	Group  Agent // the user-agent line that chose the rule's group
	Form   Form  // the first form of the target that matched
	Length int   // in bytes of the canonical form: the longest match decides
}

// Matches returns every rule of the selection that a target matches in any of
// its forms, by falling length and, among equals, allow rules first, so that the
// first one decides. It is meant for explaining a verdict: it tries every rule.
// Where extension lines make the group ambiguous these are the matches of the
// reading that joins user-agent lines.
func (s *Selection) Matches(t *Target) []Match {
	if s == nil || t.count == 0 || isRobotsTxt(t.spellings[0].text) {
		return nil
	}
	var found []Match
	for _, i := range s.rules() {
		m := newMatcher(s.robots, []int32{i})
		for _, x := range t.spellings[:t.count] {
			var out outcome
			m.match(x.text, x.form, nil, &out)
			if won := cmp.Or(out.allow, out.disallow); won.length > 0 {
				found = append(found, Match{s.robots.rule(i), s.chosenBy(i), won.form, int(won.length)})
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

// Rules returns the rules of all groups of the selection in file order, empty
// ones included. It is nil for a nil Selection.
func (s *Selection) Rules() []Rule {
	if s == nil {
		return nil
	}
	var rules []Rule
	for _, i := range s.rules() {
		rules = append(rules, s.robots.rule(i))
	}
	return rules
}

// Agents returns the user-agent lines by which the groups were chosen, in file
// order. It is nil for a nil Selection.
func (s *Selection) Agents() []Agent {
	if s == nil {
		return nil
	}
	agents := make([]Agent, len(s.agents))
	for i, a := range s.agents {
		agents[i] = s.agent(a)
	}
	return agents
}

// rules returns the rules of all groups as indices into Robots.rules.
func (s *Selection) rules() []int32 {
	var rules []int32
	for _, g := range s.robots.groupsOf(s.agents, false) {
		for i := s.robots.groups[g].ruleFrom; i < s.robots.groups[g].ruleTo; i++ {
			rules = append(rules, i)
		}
	}
	return rules
}

// Canonical returns the form of the rule's path in which it is compared with
// targets, in which * is any run of bytes and $ at the end the end of the
// target. It is empty for a rule that matches nothing. Its length in bytes is
// the rule's precedence.
func (r Rule) Canonical() string {
	switch {
	case r.Path == "" || r.Path[0] != '/' && r.Path[0] != '*':
		return ""
	case isCanonicalRule(r.Path):
		return r.Path
	}
	return string(appendCanonical(nil, r.Path, true))
}

// TargetForm is one form of a target.
type TargetForm struct {
	Text string
	Form Form
}

// Forms returns the forms in which the target is compared with rules, copied.
func (t *Target) Forms() []TargetForm {
	forms := make([]TargetForm, t.count)
	for i := range forms {
		forms[i] = TargetForm{string([]byte(t.spellings[i].text)), t.spellings[i].form}
	}
	return forms
}

// Ambiguous reports whether crawlers disagree about which rules the selection
// has, as an extension line such as Crawl-delay stands between user-agent lines.
func (s *Selection) Ambiguous() bool { return s != nil && s.split != s.joined }

package policy

import "slices"

// interpretation is the group for a crawler in the lenient or in the strict interpretation of the
// file. A nil compiledGroup means that no group applies.
type interpretation struct {
	*compiledGroup
	matcher *matcher // The matcher is extensionsIgnored or extensionsSplit of compiledGroup.
}

// parseWithStrictKeys parses the text of a file without the lines that have a misspelled key or
// lack a colon. parseWithStrictKeys returns nil if the groups and rules are the same as those of
// lenient.
func parseWithStrictKeys(lenient *Robots, text string) *Robots {
	p := parser{robots: &Robots{text: lenient.text}, strictKeys: true}
	r := p.robots
	r.rules = make([]rule, 0, len(lenient.rules))
	p.readLines(text)
	if slices.Equal(r.agents, lenient.agents) && slices.Equal(r.groups, lenient.groups) && slices.Equal(r.rules, lenient.rules) {
		return nil
	}
	r.buildAgentIndex()
	return r
}

// LenientAndStrict returns two selections that judge only by the lenient and only by the strict
// interpretation. If both interpretations have the same rules, both results are s. strict can be
// nil even if lenient is not.
func (s *SelectedGroup) LenientAndStrict() (lenient, strict *SelectedGroup) {
	if !s.IsAmbiguous() {
		return s, s
	}
	if s.strict.compiledGroup != nil {
		strict = &SelectedGroup{s.strict, s.strict}
	}
	return &SelectedGroup{s.lenient, s.lenient}, strict
}

// IsAmbiguous reports whether crawlers disagree about the rules of the selection, so that both
// interpretations have different rules. The reason is a misspelled key, a missing colon, or an
// extension line such as Crawl-delay between user-agent lines.
func (s *SelectedGroup) IsAmbiguous() bool {
	return s != nil && s.lenient != s.strict && !slices.Equal(s.lenient.ruleLines(), s.strict.ruleLines())
}

// Equal reports whether two selections of one file have the same user-agent lines in the strict and
// in the lenient interpretation, and so the same rules. A nil selection equals only nil.
func (s *SelectedGroup) Equal(other *SelectedGroup) bool {
	if s == nil || other == nil {
		return s == other
	}
	return s.lenient.equal(other.lenient) && s.strict.equal(other.strict)
}

// equal reports whether two interpretations have the same file and the same user-agent lines.
func (s interpretation) equal(other interpretation) bool {
	if s.compiledGroup == nil || other.compiledGroup == nil {
		return s.compiledGroup == other.compiledGroup
	}
	return s.robots == other.robots && slices.Equal(s.agents, other.agents)
}

// ruleLines returns the rules of the crawler's groups in file order, including empty rules.
func (s interpretation) ruleLines() []Rule {
	if s.compiledGroup == nil {
		return nil
	}
	var rules []Rule
	for _, i := range s.ruleIndices() {
		rules = append(rules, s.robots.exportedRule(i))
	}
	return rules
}

// ruleIndices returns the rules of the crawler's groups as indices into Robots.rules.
func (s interpretation) ruleIndices() []int32 {
	var rules []int32
	for _, g := range s.robots.groupsOfAgents(s.agents, s.splitsAtExtensions()) {
		for i := s.robots.groups[g].ruleFrom; i < s.robots.groups[g].ruleTo; i++ {
			rules = append(rules, i)
		}
	}
	return rules
}

// splitsAtExtensions reports whether an extension line between user-agent lines begins another
// group in this interpretation. The result is also false if that makes no difference for the
// crawler.
func (s interpretation) splitsAtExtensions() bool { return s.matcher != s.extensionsIgnored }

package policy

import "slices"

// strictly parses the text by the strict interpretation, in which misspelled keys are
// unknown. It returns nil if the result is the same.
func strictly(forgiving *Robots, text string) *Robots {
	p := parser{robots: &Robots{text: forgiving.text}, strict: true}
	r := p.robots
	r.rules = make([]rule, 0, len(forgiving.rules))
	p.lines(text)
	if slices.Equal(r.agents, forgiving.agents) && slices.Equal(r.groups, forgiving.groups) && slices.Equal(r.rules, forgiving.rules) {
		return nil
	}
	r.index()
	return r
}

// Readings returns the selection by each interpretation alone, so that neither is ambiguous.
// Without a difference it returns the same selection twice. The strict selection can be nil
// even if the lenient one is not.
func (s *Selection) Readings() (forgiving, strict *Selection) {
	if !s.Ambiguous() {
		return s, s
	}
	if s.strict.choice != nil {
		strict = &Selection{s.strict, s.strict}
	}
	return &Selection{s.forgiving, s.forgiving}, strict
}

// Ambiguous reports whether crawlers disagree about the rules of the selection. The reason is a
// misspelled key, a missing colon, or an extension line such as Crawl-delay between user-agent
// lines.
func (s *Selection) Ambiguous() bool {
	return s != nil && s.forgiving != s.strict && !slices.Equal(s.forgiving.list(), s.strict.list())
}

// Equal reports whether the same user-agent lines selected both selections, in both
// interpretations, so that the rules are the same.
func (s *Selection) Equal(other *Selection) bool {
	if s == nil || other == nil {
		return s == other
	}
	return s.forgiving.equal(other.forgiving) && s.strict.equal(other.strict)
}

func (s side) equal(other side) bool {
	if s.choice == nil || other.choice == nil {
		return s.choice == other.choice
	}
	return s.robots == other.robots && slices.Equal(s.agents, other.agents)
}

// list returns the rules of all groups in file order, empty ones included.
func (s side) list() []Rule {
	if s.choice == nil {
		return nil
	}
	var rules []Rule
	for _, i := range s.indices() {
		rules = append(rules, s.robots.rule(i))
	}
	return rules
}

// indices returns the rules of all groups as indices into Robots.rules.
func (s side) indices() []int32 {
	var rules []int32
	for _, g := range s.robots.groupsOf(s.agents, s.isSplit()) {
		for i := s.robots.groups[g].ruleFrom; i < s.robots.groups[g].ruleTo; i++ {
			rules = append(rules, i)
		}
	}
	return rules
}

// isSplit reports whether extension lines between user-agent lines begin another group in
// this interpretation. It is false without a difference.
func (s side) isSplit() bool { return s.rules != s.extensionsIgnored }

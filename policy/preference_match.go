package policy

import "slices"

// statements are the compiled Content-Usage or Content-Signal lines of some groups. The
// longest matching paths decide together.
type statements struct {
	lines    []Statement // in file order
	whole    Preferences // preferences of the lines without a path
	literals literalStatements
	patterns *patternStatements // nil if no path has a wildcard inside
}

// said is the combined preferences of paths of one length. A length of 0 means none.
type said struct {
	length int32
	says   Preferences
}

// add adds the preferences of another path that matches the same target.
func (s *said) add(other said) {
	switch {
	case other.length > s.length:
		*s = other
	case other.length == s.length:
		s.says = s.says.And(other.says)
	}
}

// literalStatements are statements without an inner wildcard.
type literalStatements struct {
	literals
	prefix []said // by text: statements for targets with that prefix
	exact  []said // by text: statements for the exact target
}

// add adds the statements that match one form of a target to out. Repeated additions have no
// effect.
func (l *literalStatements) add(target string, out *said) {
	i := l.find(target)
	if i < 0 {
		return
	}
	out.add(l.prefix[i])
	if len(l.texts[i]) == len(target) {
		out.add(l.exact[i])
	}
}

// newLiteralStatements compiles literals. The rule of a literal is the index of its line.
func newLiteralStatements(rules []literal, lines []Statement) (l literalStatements) {
	l.literals = newLiterals(rules)
	l.prefix, l.exact = make([]said, len(l.texts)), make([]said, len(l.texts))
	for _, x := range rules {
		i, _ := slices.BinarySearch(l.texts, x.text)
		into := l.prefix
		if x.anchored {
			into = l.exact
		}
		into[i].add(said{x.length, lines[x.rule].Preferences})
	}
	for i, parent := range l.parents { // prefixes precede longer texts
		if parent >= 0 {
			l.prefix[i].add(l.prefix[parent])
		}
	}
	return l
}

// patternStatements are statements with an inner wildcard. paths contains all of them. Each
// use contains the statements about one category, with "no" as an allow rule, which wins
// among equals.
type patternStatements struct {
	few   []pattern // all patterns, if comparing each is faster than an index
	says  []said    // preferences of each pattern
	paths *matcher
	uses  [uses]*matcher
}

// fewPatternStatements is the number of patterns up to which they are compared one by one.
const fewPatternStatements = 4

// newPatternStatements compiles patterns. The rule of a pattern is the index of its line.
func newPatternStatements(patterns []pattern, lines []Statement) *patternStatements {
	if len(patterns) == 0 {
		return nil
	}
	if len(patterns) <= fewPatternStatements {
		p := &patternStatements{few: patterns}
		for _, x := range patterns {
			p.says = append(p.says, said{x.length, lines[x.rule].Preferences})
		}
		return p
	}
	var byUse [uses][]pattern
	for _, x := range patterns {
		for use, preference := range lines[x.rule].Preferences {
			if x.allow = preference == PreferenceNo; preference != PreferenceUnknown {
				byUse[use] = append(byUse[use], x)
			}
		}
	}
	p := &patternStatements{paths: &matcher{wildcards: newWildcards(patterns)}}
	for use, patterns := range byUse {
		p.uses[use] = &matcher{wildcards: newWildcards(patterns)}
	}
	return p
}

// add adds the statements that match a target to out.
func (p *patternStatements) add(spellings []spelling, out *said) {
	if p.few != nil {
		p.addFew(spellings, out)
		return
	}
	longest := p.paths.best(spellings).allow.length
	if longest == 0 || longest < out.length {
		return
	}
	found := said{length: longest}
	for use, m := range p.uses {
		switch best := m.best(spellings); longest {
		case best.allow.length:
			found.says[use] = PreferenceNo
		case best.disallow.length:
			found.says[use] = PreferenceYes
		}
	}
	out.add(found)
}

// addFew is add for a few patterns.
func (p *patternStatements) addFew(spellings []spelling, out *said) {
	for i := range p.few {
		if p.few[i].length < out.length {
			continue
		}
		for s := range spellings {
			if ok, _ := p.few[i].matches(spellings[s].text); ok {
				out.add(p.says[i])
				break
			}
		}
	}
}

// statementsOf returns the Content-Usage and Content-Signal lines of the groups of agents, or
// nil. agents must be in file order.
func (r *Robots) statementsOf(agents []int32) (byUsage, bySignal *statements) {
	isFor := func(from, to int32) bool {
		first, _ := slices.BinarySearch(agents, from)
		return first < len(agents) && agents[first] < to
	}
	var usages, signals []Statement
	for _, usage := range r.usages {
		if isFor(usage.agentFrom, usage.agentTo) {
			record := r.records[usage.record]
			path, dictionary := CutUsage(record.Value)
			says, _ := ParsePreferences(dictionary) // no preferences if invalid
			usages = append(usages, Statement{ContentUsage, path, says, record.Line})
		}
	}
	for _, i := range r.signals {
		record := r.records[i]
		if g := r.groups[record.Group]; isFor(g.agentFrom, g.agentTo) {
			path, list := CutUsage(record.Value)
			signals = append(signals, Statement{ContentSignal, path, ParseSignals(list), record.Line})
		}
	}
	return newStatements(usages), newStatements(signals)
}

// newStatements compiles lines of one kind. It returns nil without lines.
func newStatements(lines []Statement) *statements {
	if len(lines) == 0 {
		return nil
	}
	s := &statements{lines: lines}
	var paths compiler
	for i, line := range lines {
		if line.Path == "" {
			s.whole = s.whole.And(line.Preferences)
			continue
		}
		paths.add(canonicalRule(line.Path), true, int32(i))
	}
	s.literals = newLiteralStatements(paths.literals, s.lines)
	s.patterns = newPatternStatements(paths.patterns, s.lines)
	return s
}

// best returns the longest matching paths of both kinds, or none if the search exceeds its
// limit.
func (m *matcher) best(spellings []spelling) (best outcome) {
	s := newSearch()
	defer s.release()
	for i := range spellings {
		m.match(spellings[i].text, spellings[i].form, &s, &best)
	}
	if s.isGivenUp() {
		return outcome{}
	}
	return best
}

// hasPaths reports whether a line has a path.
func (s *statements) hasPaths() bool { return len(s.literals.texts) > 0 || s.patterns != nil }

// of returns the preferences for a target.
func (s *statements) of(t *Target) Preferences {
	switch {
	case s == nil:
		return Preferences{}
	case !s.hasPaths():
		return s.whole
	}
	spellings := t.forms()
	var longest said
	for i := range spellings {
		s.literals.add(spellings[i].text, &longest)
	}
	if s.patterns != nil {
		s.patterns.add(spellings, &longest)
	}
	if longest.length == 0 {
		return s.whole
	}
	return longest.says
}

// Preferences returns the preferences of the file about the use of a target by a crawler with
// the group s. It combines the Content-Usage lines and the Content-Signal lines of the group,
// the group of [TrainingToken] and the group of control, the crawler's control token ("" for
// none). Any n is n. Of the lines of one kind the longest matching paths decide, or else the
// lines without a path (draft-ietf-aipref-attach-05 section 3.1). The caller must check
// whether the target is disallowed, since such a target has no preferences. The lenient
// interpretation applies.
func (r *Robots) Preferences(s *Selection, t *Target, control string) (p Preferences) {
	if s != nil && s.forgiving.choice != nil {
		p = s.forgiving.usages.of(t).And(s.forgiving.signals.of(t))
	}
	if line, ok := r.stated(r.training(), t); ok {
		p = p.And(line.Preferences)
	}
	if line, ok := r.stated(r.naming(control), t); ok {
		p = p.And(line.Preferences)
	}
	return p
}

package policy

import "slices"

// statements are the compiled Content-Usage or Content-Signal lines of some groups. The
// longest matching paths decide together.
type statements struct {
	lines     []Statement // in file order
	wholeSite Preferences // preferences of the lines without a path
	literals  literalStatements
	patterns  *patternStatements // nil if no path has a wildcard inside
}

// pathPreferences is the combined preferences of paths of one length. A length of 0 means none.
type pathPreferences struct {
	length      int32
	preferences Preferences
}

// combine adds the preferences of another path that matches the same target.
func (s *pathPreferences) combine(other pathPreferences) {
	switch {
	case other.length > s.length:
		*s = other
	case other.length == s.length:
		s.preferences = s.preferences.Combine(other.preferences)
	}
}

// literalStatements are statements without an inner wildcard.
type literalStatements struct {
	literalRules
	prefix []pathPreferences // by text: statements for targets with that prefix
	exact  []pathPreferences // by text: statements for the exact target
}

// add adds the statements that match one variant of a target to out. Repeated additions have no
// effect.
func (l *literalStatements) add(target string, out *pathPreferences) {
	i := l.longestPrefix(target)
	if i < 0 {
		return
	}
	out.combine(l.prefix[i])
	if len(l.texts[i]) == len(target) {
		out.combine(l.exact[i])
	}
}

// newLiteralStatements compiles literals. The rule of a literal is the index of its line.
func newLiteralStatements(rules []literalRule, lines []Statement) (l literalStatements) {
	l.literalRules = newLiterals(rules)
	l.prefix, l.exact = make([]pathPreferences, len(l.texts)), make([]pathPreferences, len(l.texts))
	for _, x := range rules {
		i, _ := slices.BinarySearch(l.texts, x.text)
		into := l.prefix
		if x.anchored {
			into = l.exact
		}
		into[i].combine(pathPreferences{x.length, lines[x.rule].Preferences})
	}
	for i, parent := range l.parents { // prefixes precede longer texts
		if parent >= 0 {
			l.prefix[i].combine(l.prefix[parent])
		}
	}
	return l
}

// patternStatements are statements with an inner wildcard. paths contains all statements. Each use
// contains the statements about one category. "no" is stored as wins, so it precedes "yes" among equally
// long paths, and the matcher returns "no" as allow and "yes" as disallow.
type patternStatements struct {
	unindexed            []pattern         // all patterns, if comparing each is faster than an index
	unindexedPreferences []pathPreferences // preferences of each pattern
	paths                *matcher
	byUse                [numUses]*matcher
}

// maxUnindexedStatements is the maximum number of patterns that are compared without an index.
const maxUnindexedStatements = 4

// newPatternStatements compiles patterns. The rule of a pattern is the index of its line.
func newPatternStatements(patterns []pattern, lines []Statement) *patternStatements {
	if len(patterns) == 0 {
		return nil
	}
	if len(patterns) <= maxUnindexedStatements {
		p := &patternStatements{unindexed: patterns}
		for _, x := range patterns {
			p.unindexedPreferences = append(p.unindexedPreferences, pathPreferences{x.length, lines[x.rule].Preferences})
		}
		return p
	}
	var byUse [numUses][]pattern
	for _, x := range patterns {
		for use, preference := range lines[x.rule].Preferences {
			if x.wins = preference == PreferenceNo; preference != PreferenceUnknown {
				byUse[use] = append(byUse[use], x)
			}
		}
	}
	p := &patternStatements{paths: &matcher{patterns: newPatternSet(patterns)}}
	for use, patterns := range byUse {
		p.byUse[use] = &matcher{patterns: newPatternSet(patterns)}
	}
	return p
}

// add adds the statements that match a target to out.
func (p *patternStatements) add(variants []variant, out *pathPreferences) {
	if p.unindexed != nil {
		p.addUnindexed(variants, out)
		return
	}
	longest := p.paths.bestMatches(variants).allow.length
	if longest == 0 || longest < out.length {
		return
	}
	found := pathPreferences{length: longest}
	for use, m := range p.byUse {
		switch best := m.bestMatches(variants); longest {
		case best.allow.length:
			found.preferences[use] = PreferenceNo
		case best.disallow.length:
			found.preferences[use] = PreferenceYes
		}
	}
	out.combine(found)
}

// addUnindexed is add for a few patterns.
func (p *patternStatements) addUnindexed(variants []variant, out *pathPreferences) {
	for i := range p.unindexed {
		if p.unindexed[i].length < out.length {
			continue
		}
		for s := range variants {
			if ok, _ := p.unindexed[i].matches(variants[s].text); ok {
				out.combine(p.unindexedPreferences[i])
				break
			}
		}
	}
}

// contentStatements returns the Content-Usage and Content-Signal lines of the groups of agents, or
// nil. agents must be in file order.
func (r *Robots) contentStatements(agents []int32) (byUsage, bySignal *statements) {
	appliesTo := func(from, to int32) bool {
		first, _ := slices.BinarySearch(agents, from)
		return first < len(agents) && agents[first] < to
	}
	var usages, signals []Statement
	for _, usage := range r.contentUsages {
		if appliesTo(usage.agentFrom, usage.agentTo) {
			record := r.records[usage.record]
			path, dictionary := SplitUsagePath(record.Value)
			preferences, _ := ParsePreferences(dictionary) // no preferences if invalid
			usages = append(usages, Statement{ContentUsage, path, preferences, record.Line})
		}
	}
	for _, i := range r.contentSignals {
		record := r.records[i]
		if g := r.groups[record.Group]; appliesTo(g.agentFrom, g.agentTo) {
			path, list := SplitUsagePath(record.Value)
			signals = append(signals, Statement{ContentSignal, path, ParseSignals(list), record.Line})
		}
	}
	return newStatements(usages), newStatements(signals)
}

// newStatements compiles lines of one kind. newStatements returns nil without lines.
func newStatements(lines []Statement) *statements {
	if len(lines) == 0 {
		return nil
	}
	s := &statements{lines: lines}
	var paths ruleCompiler
	for i, line := range lines {
		if line.Path == "" {
			s.wholeSite = s.wholeSite.Combine(line.Preferences)
			continue
		}
		paths.add(canonicalRule(line.Path), true, int32(i))
	}
	s.literals = newLiteralStatements(paths.literals, s.lines)
	s.patterns = newPatternStatements(paths.patterns, s.lines)
	return s
}

// bestMatches returns the longest matching paths of both kinds, or none if the search exceeds its
// limit.
func (m *matcher) bestMatches(variants []variant) (best bestMatches) {
	s := newSearch()
	defer s.release()
	for i := range variants {
		m.addMatches(variants[i].text, variants[i].normalization, &s, &best)
	}
	if s.isExhausted() {
		return bestMatches{}
	}
	return best
}

// hasPaths reports whether a line has a path.
func (s *statements) hasPaths() bool { return len(s.literals.texts) > 0 || s.patterns != nil }

// preferencesFor returns the preferences for a target.
func (s *statements) preferencesFor(t *Target) Preferences {
	switch {
	case s == nil:
		return Preferences{}
	case !s.hasPaths():
		return s.wholeSite
	}
	variants := t.variants()
	var longest pathPreferences
	for i := range variants {
		s.literals.add(variants[i].text, &longest)
	}
	if s.patterns != nil {
		s.patterns.add(variants, &longest)
	}
	if longest.length == 0 {
		return s.wholeSite
	}
	return longest.preferences
}

// Preferences returns the preferences of the file about the use of a target by a crawler with the
// group s. Preferences combines the Content-Usage lines and the Content-Signal lines of the group,
// the group of [TrainingToken] and the group of control. control is the crawler's control token, or
// "". If any part has the preference n, the result is n. Among lines of the same kind the longest
// matching paths decide, or else the lines without a path (draft-ietf-aipref-attach-05 section
// 3.1). The caller must check whether the target is disallowed, because a disallowed target has no
// preferences. The lenient interpretation applies.
func (r *Robots) Preferences(s *SelectedGroup, t *Target, control string) (p Preferences) {
	if s != nil && s.lenient.compiledGroup != nil {
		p = s.lenient.usages.preferencesFor(t).Combine(s.lenient.signals.preferencesFor(t))
	}
	if line, ok := r.trainingPreference(r.trainingGroup(), t); ok {
		p = p.Combine(line.Preferences)
	}
	if line, ok := r.trainingPreference(r.compiledNaming(control), t); ok {
		p = p.Combine(line.Preferences)
	}
	return p
}

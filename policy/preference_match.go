package policy

import (
	"cmp"
	"slices"
)

// statements are the compiled Content-Usage lines, or the compiled Content-Signal lines, that apply
// to a crawler. For a target, the lines with the longest matching paths decide together.
type statements struct {
	lines                []Statement // The lines are in file order.
	wholeSitePreferences Preferences // These are the preferences of the lines without a path.
	literals             literalPreferences
	// patterns are the paths with a wildcard inside, longest first. pattern.rule is the index of the
	// line.
	patterns []pattern
}

// pathPreferences are the combined preferences of all matching paths of one length. A length of 0
// means that no path matches.
type pathPreferences struct {
	length      int32
	preferences Preferences
}

// combine adds the preferences of other paths that match the same target. Only the longer paths
// count.
func (s *pathPreferences) combine(other pathPreferences) {
	switch {
	case other.length > s.length:
		*s = other
	case other.length == s.length:
		s.preferences = s.preferences.Combine(other.preferences)
	}
}

// literalPreferences finds the preferences of the paths that have no wildcard before their end.
type literalPreferences struct {
	prefixIndex
	prefix []pathPreferences // prefix has the preferences about targets that start with a text, by the index of the text.
	exact  []pathPreferences // exact has the preferences about targets that equal a text, by the index of the text.
}

// addMatches adds the preferences about one variant of a target to out.
func (l *literalPreferences) addMatches(target string, out *pathPreferences) {
	i := l.findLongestPrefix(target)
	if i < 0 {
		return
	}
	out.combine(l.prefix[i])
	if len(l.texts[i]) == len(target) {
		out.combine(l.exact[i])
	}
}

// newLiteralPreferences compiles paths, whose field rule is the index of their line in lines.
func newLiteralPreferences(paths []literalRule, lines []Statement) (l literalPreferences) {
	if len(paths) == 0 {
		return l
	}
	paths = sortByText(paths)
	l.prefixIndex = newPrefixIndex(distinctTexts(paths))
	l.prefix, l.exact = make([]pathPreferences, len(l.texts)), make([]pathPreferences, len(l.texts))
	i := 0
	for _, x := range paths {
		if x.text != l.texts[i] {
			i++
		}
		into := l.prefix
		if x.anchored {
			into = l.exact
		}
		into[i].combine(pathPreferences{x.length, lines[x.rule].Preferences})
	}
	for i, parent := range l.parents { // Prefixes precede longer texts.
		if parent >= 0 {
			l.prefix[i].combine(l.prefix[parent])
		}
	}
	return l
}

// addPatternMatches adds the preferences of the patterns that match a target to out. If the search
// exceeds its budget, addPatternMatches adds nothing.
func (s *statements) addPatternMatches(variants []variant, out *pathPreferences) {
	found, work := *out, newSearchBudget()
	for i := range s.patterns {
		p := &s.patterns[i]
		if p.length < found.length {
			break
		}
		for j := range variants {
			matches, steps := p.matches(variants[j].text)
			if work.stepsLeft -= steps; work.isExhausted() {
				return
			}
			if matches {
				found.combine(pathPreferences{p.length, s.lines[p.rule].Preferences})
				break
			}
		}
	}
	*out = found
}

// compileStatements returns the compiled Content-Usage and Content-Signal lines in the groups of
// some user-agent lines, each nil if there are none. agents must be in file order.
func (r *Robots) compileStatements(agents []int32) (byUsage, bySignal *statements) {
	appliesTo := func(from, to int32) bool {
		first, _ := slices.BinarySearch(agents, from)
		return first < len(agents) && agents[first] < to
	}
	var usages, signals []Statement
	for _, usage := range r.contentUsages {
		if appliesTo(usage.agentFrom, usage.agentTo) {
			record := r.records[usage.record]
			path, dictionary := SplitUsagePath(record.Value)
			preferences, _ := ParsePreferences(dictionary) // An invalid line states no preferences.
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

// newStatements compiles lines with the same key. newStatements returns nil for no lines.
func newStatements(lines []Statement) *statements {
	if len(lines) == 0 {
		return nil
	}
	s := &statements{lines: lines}
	var paths ruleCompiler
	for i, line := range lines {
		if line.Path == "" {
			s.wholeSitePreferences = s.wholeSitePreferences.Combine(line.Preferences)
			continue
		}
		paths.add(canonicalRule(line.Path), true, int32(i))
	}
	s.literals = newLiteralPreferences(paths.literals, lines)
	s.patterns = paths.patterns
	slices.SortStableFunc(s.patterns, func(a, b pattern) int { return cmp.Compare(b.length, a.length) })
	return s
}

// hasPaths reports whether some line has a path.
func (s *statements) hasPaths() bool { return len(s.literals.texts)+len(s.patterns) > 0 }

// preferencesForTarget returns the preferences that the lines state about a target. s can be nil.
func (s *statements) preferencesForTarget(t *Target) Preferences {
	switch {
	case s == nil:
		return Preferences{}
	case !s.hasPaths():
		return s.wholeSitePreferences
	}
	variants := t.variants()
	var longest pathPreferences
	for i := range variants {
		s.literals.addMatches(variants[i].text, &longest)
	}
	s.addPatternMatches(variants, &longest)
	if longest.length == 0 {
		return s.wholeSitePreferences
	}
	return longest.preferences
}

// Preferences returns the preferences of the file about the use of a target by a crawler. s is the
// group of the crawler, of which the lenient interpretation applies. control is the crawler's
// control token, such as Google-Extended, or "". Preferences combines four parts of the file. If one
// part opposes a use and another part permits the use, the result opposes the use:
//
//   - the Content-Usage lines of the group,
//   - its Content-Signal lines,
//   - the rules of the group [TrainingToken],
//   - the rules of the group with the name control.
//
// Among lines with the same key, the longest matching paths decide, or else the lines without a
// path (draft-ietf-aipref-attach-05 section 3.1). The caller must check whether the target is
// disallowed, because a disallowed target has no preferences.
func (r *Robots) Preferences(s *SelectedGroup, t *Target, control string) (p Preferences) {
	if s != nil && s.lenient.compiledGroup != nil {
		p = s.lenient.usages.preferencesForTarget(t).Combine(s.lenient.signals.preferencesForTarget(t))
	}
	if line, ok := r.trainingPreference(r.compiledTrainingGroup(), t); ok {
		p = p.Combine(line.Preferences)
	}
	if line, ok := r.trainingPreference(r.findNamedGroup(control), t); ok {
		p = p.Combine(line.Preferences)
	}
	return p
}

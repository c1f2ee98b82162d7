package policy

import (
	"slices"
)

// statements are the Content-Usage lines of some groups, compiled.
type statements struct {
	lines []Statement // in file order
	whole Preferences // of the lines without a path
	// Lines with paths. The longest that matches decides, and where several of that
	// length do, what they say together: paths has them all, and each of uses those
	// that state something about it, a no as an allow rule, which wins among equals.
	paths *matcher
	uses  [uses]*matcher
}

// statements returns the statements of the groups that agents are named in, nil if
// there are none. The agents are in file order.
func (r *Robots) statements(agents []int32) *statements {
	s := new(statements)
	var paths compiler
	var byUse [uses]compiler
	for _, usage := range r.usages {
		if first, _ := slices.BinarySearch(agents, usage.agentFrom); first == len(agents) || agents[first] >= usage.agentTo {
			continue // it is for others
		}
		record := r.records[usage.record]
		path, dictionary := CutUsage(record.Value)
		says, _ := ParsePreferences(dictionary) // nothing if that is no dictionary
		i := int32(len(s.lines))
		s.lines = append(s.lines, Statement{path, says, record.Line})
		if path == "" {
			s.whole = s.whole.And(says)
			continue
		}
		canonical := Rule{Path: path}.Canonical()
		paths.add(canonical, true, i)
		for use, preference := range says {
			if preference != PreferenceUnknown {
				byUse[use].add(canonical, preference == PreferenceNo, i)
			}
		}
	}
	if len(s.lines) == 0 {
		return nil
	}
	s.paths = paths.matcher()
	for use := range byUse {
		s.uses[use] = byUse[use].matcher()
	}
	return s
}

// matcher returns the matcher of what was added, nil if that is nothing.
func (c *compiler) matcher() *matcher {
	if len(c.literals)+len(c.patterns) == 0 {
		return nil
	}
	return &matcher{literals: newLiterals(c.literals), wildcards: newWildcards(c.patterns)}
}

// best returns the longest paths of both kinds that match a target.
func (m *matcher) best(spellings []spelling) (best outcome) {
	var found *candidates
	if m.wildcards.indexed() {
		found = m.wildcards.find(spellings)
	}
	for i := range spellings {
		m.match(spellings[i].text, spellings[i].form, found, &best)
	}
	found.release()
	return best
}

// of returns what is stated for a target.
func (s *statements) of(spellings []spelling) Preferences {
	if s == nil {
		return Preferences{}
	}
	if s.paths == nil {
		return s.whole
	}
	longest := s.paths.best(spellings).allow.length
	if longest == 0 {
		return s.whole
	}
	var p Preferences
	for use, m := range s.uses {
		if m == nil {
			continue
		}
		switch best := m.best(spellings); longest {
		case best.allow.length:
			p[use] = PreferenceNo
		case best.disallow.length:
			p[use] = PreferenceYes
		}
	}
	return p
}

// Preferences returns what the Content-Usage lines of the group state for a request
// target as sent: the lines with the longest path that matches it decide, together
// where there are several, and without one those without a path
// (draft-ietf-aipref-attach-05 section 3.1). A target that may not be fetched has no
// preferences; that is for the caller to see. It is that of the forgiving reading.
func (s *Selection) Preferences(target string) Preferences {
	switch {
	case !s.HasPreferences():
		return Preferences{}
	case s.forgiving.statements.paths == nil:
		return s.forgiving.statements.whole
	case isPlain(target):
		return s.forgiving.statements.of([]spelling{spelled(target, 0)})
	}
	t := borrowed(target)
	p := s.TargetPreferences(t)
	t.giveBack()
	return p
}

// TargetPreferences is [Selection.Preferences] for a prepared target.
func (s *Selection) TargetPreferences(t *Target) Preferences {
	if !s.HasPreferences() {
		return Preferences{}
	}
	return s.forgiving.statements.of(t.forms())
}

// HasPreferences reports whether the group has a Content-Usage line.
func (s *Selection) HasPreferences() bool {
	return s != nil && s.forgiving.choice != nil && s.forgiving.statements != nil
}

// Statements returns the Content-Usage lines of the group, in file order, and those of
// them that decide for a target: none if all state nothing for it.
func (s *Selection) Statements(t *Target) (all, deciding []Statement) {
	if !s.HasPreferences() {
		return nil, nil
	}
	longest := 0
	for _, line := range s.forgiving.statements.lines {
		length, ok := line.matches(t.forms())
		switch {
		case !ok || length < longest:
			continue
		case length > longest:
			longest, deciding = length, nil
		}
		deciding = append(deciding, line)
	}
	return slices.Clone(s.forgiving.statements.lines), deciding
}

// matches reports whether a statement is about a target, and the length of its path in
// canonical form.
func (s Statement) matches(spellings []spelling) (length int, ok bool) {
	if s.Path == "" {
		return 0, true
	}
	var c compiler
	c.add(Rule{Path: s.Path}.Canonical(), true, 0)
	best := c.matcher().best(spellings)
	return int(best.allow.length), best.allow.length > 0
}

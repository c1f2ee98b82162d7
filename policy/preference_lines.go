package policy

import (
	"slices"
	"strings"
)

// HasPreferences reports whether the group has a Content-Usage line.
func (s *Selection) HasPreferences() bool {
	return s != nil && s.forgiving.choice != nil && s.forgiving.statements != nil
}

// Statements returns the Content-Usage lines of the group, in file order, and those of
// them that decide for a target, as [Selection.Deciding] does.
func (s *Selection) Statements(t *Target) (all, deciding []Statement) {
	if !s.HasPreferences() {
		return nil, nil
	}
	return slices.Clone(s.forgiving.statements.lines), s.Deciding(t)
}

// Deciding returns the Content-Usage lines of the group that decide for a target, in file
// order: none if all state nothing for it.
func (s *Selection) Deciding(t *Target) (deciding []Statement) {
	if !s.HasPreferences() {
		return nil
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
	return deciding
}

// matches reports whether a statement is about a target, and the length of its path in
// canonical form.
func (s Statement) matches(spellings []spelling) (length int, ok bool) {
	if s.Path == "" {
		return 0, true
	}
	path := canonicalRule(s.Path)
	begin, _, _ := strings.Cut(path, "*")
	begin = strings.TrimSuffix(begin, "$")
	if !slices.ContainsFunc(spellings, func(x spelling) bool { return strings.HasPrefix(x.text, begin) }) {
		return 0, false // as most of thousands of lines, which need not be compiled for that
	}
	var c compiler
	c.add(path, true, 0)
	best := c.matcher().best(spellings)
	return int(best.allow.length), best.allow.length > 0
}

package policy

import (
	"slices"
	"strings"
)

// Stated returns the lines that decide the result of [Robots.Preferences].
func (r *Robots) Stated(s *Selection, t *Target, control string) (lines []Statement) {
	if s != nil && s.forgiving.choice != nil {
		lines = append(s.forgiving.usages.deciding(t), s.forgiving.signals.deciding(t)...)
	}
	if line, ok := r.stated(r.training(), t); ok {
		lines = append(lines, line)
	}
	if line, ok := r.stated(r.naming(control), t); ok {
		lines = append(lines, line)
	}
	return lines
}

// deciding returns the lines that decide for a target, in file order.
func (s *statements) deciding(t *Target) (deciding []Statement) {
	if s == nil {
		return nil
	}
	longest := 0
	for _, line := range s.lines {
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

// matches reports whether a statement applies to a target, and returns the length of its path in
// canonical form.
func (s Statement) matches(spellings []spelling) (length int, ok bool) {
	if s.Path == "" {
		return 0, true
	}
	path := canonicalRule(s.Path)
	begin, _, _ := strings.Cut(path, "*")
	begin = strings.TrimSuffix(begin, "$")
	if !slices.ContainsFunc(spellings, func(x spelling) bool { return strings.HasPrefix(x.text, begin) }) {
		return 0, false // most lines do not match, and this check needs no canonical form
	}
	var c compiler
	c.add(path, true, 0)
	best := c.matcher().best(spellings)
	return int(best.allow.length), best.allow.length > 0
}

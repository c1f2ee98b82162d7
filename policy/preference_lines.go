package policy

import (
	"slices"
	"strings"
)

// DecidingStatements returns the lines that decide the result of [Robots.Preferences] with the same
// arguments.
func (r *Robots) DecidingStatements(s *SelectedGroup, t *Target, control string) (lines []Statement) {
	if s != nil && s.lenient.compiledGroup != nil {
		lines = append(s.lenient.usages.decidingLines(t), s.lenient.signals.decidingLines(t)...)
	}
	if line, ok := r.trainingPreference(r.compiledTrainingGroup(), t); ok {
		lines = append(lines, line)
	}
	if line, ok := r.trainingPreference(r.findNamedGroup(control), t); ok {
		lines = append(lines, line)
	}
	return lines
}

// decidingLines returns the lines with the longest paths that match a target, in file order.
// Without a matching path, it returns the lines without a path.
func (s *statements) decidingLines(t *Target) (deciding []Statement) {
	if s == nil {
		return nil
	}
	longest := 0
	for _, line := range s.lines {
		length, ok := line.matchLength(t.variants())
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

// matchLength returns the length of the statement's path in canonical form, or 0 for a statement
// about all pages. ok is false if the path matches no variant of the target.
func (s Statement) matchLength(variants []variant) (length int, ok bool) {
	if s.Path == "" {
		return 0, true
	}
	path := canonicalRule(s.Path)
	begin, _, _ := strings.Cut(path, "*")
	begin = strings.TrimSuffix(begin, "$")
	if !slices.ContainsFunc(variants, func(x variant) bool { return strings.HasPrefix(x.text, begin) }) {
		return 0, false // Most lines do not match, and this check needs no matcher.
	}
	var c ruleCompiler
	c.add(path, true, 0)
	m, work, best := c.newMatcher(), newSearchBudget(), bestMatches{}
	for i := range variants {
		m.addMatches(variants[i].text, 0, &work, &best)
	}
	return int(best.allow.length), best.allow.length > 0 && !work.isExhausted()
}

package diff

import (
	"iter"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// candidateURLs yields URLs whose verdict may differ between two files with the rules before and
// after: two fixed URLs, examples for each rule in changes, and examples that match a rule in
// changes and another rule. maxSteps limits the cost of the search for URLs that match two rules,
// in pairs of positions in both.
func candidateURLs(before, after, changes []policy.Rule, maxSteps int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, path := range []string{"/", "/example"} {
			if !yield(path) {
				return
			}
		}
		for _, r := range changes {
			for _, path := range matchingPaths(r.CanonicalPath()) {
				if !yield(path) {
					return
				}
			}
		}
		for _, r := range changes {
			for _, rules := range [][]policy.Rule{before, after} {
				for _, other := range rules {
					a, b := r.CanonicalPath(), other.CanonicalPath()
					if maxSteps -= min(len(a), maxPatternsLength) * min(len(b), maxPatternsLength); maxSteps < 0 {
						return
					}
					if path, ok := findCommonPath(a, b); ok && !yield(path) {
						return
					}
				}
			}
		}
	}
}

// wildcardExample replaces each wildcard of a rule in an example URL.
const wildcardExample = "example"

// matchingPaths returns example paths that a canonical rule matches. In some paths,
// example words replace the wildcards or are appended; other paths are as short as possible.
func matchingPaths(canonical string) []string {
	if canonical == "" {
		return nil
	}
	pattern, anchored := strings.CutSuffix(canonical, "$")
	pattern = strings.TrimRight(pattern, "*")
	var paths []string
	for _, star := range []string{wildcardExample, "", "/" + wildcardExample + "/"} {
		path := ensureLeadingSlash(strings.ReplaceAll(pattern, "*", star))
		paths = append(paths, path)
		if !anchored || strings.HasSuffix(canonical, "*$") {
			paths = append(paths, path+wildcardExample, path+"/"+wildcardExample, path+"?"+wildcardExample)
		}
		if i := strings.LastIndex(path, "/index.htm"); i >= 0 {
			paths = append(paths, path[:i+1]) // Google documents this rule for index pages.
		}
	}
	return paths
}

// ensureLeadingSlash adds a slash before a path that does not begin with one. An example is a path
// for the rule *.pdf.
func ensureLeadingSlash(path string) string {
	if !strings.HasPrefix(path, "/") {
		return "/" + path
	}
	return path
}

// maxPatternsLength is the maximum length of two rules for which a common path is searched, in bytes.
const maxPatternsLength = 300

// findCommonPath returns a shortest path that both canonical rules match. ok is false if there is
// none, or if a rule is longer than maxPatternsLength.
func findCommonPath(a, b string) (string, bool) {
	if a == "" || b == "" || len(a) > maxPatternsLength || len(b) > maxPatternsLength {
		return "", false
	}
	a, b = wholePathPattern(a), wholePathPattern(b)
	// The state (i, j) means that a[:i] and b[:j] match the path so far. A star either consumes the
	// next byte of the other pattern, or ends.
	type state struct{ i, j int }
	type step struct {
		from state
		read byte // This is 0 if no byte was read.
	}
	width := len(b) + 1
	steps := make([]step, (len(a)+1)*width)
	seen := make([]bool, len(steps))
	now, next := []state{{0, 0}}, []state(nil)
	seen[0] = true
	end := state{len(a), len(b)}
	visit := func(list []state, to, from state, read byte) []state {
		at := to.i*width + to.j
		if seen[at] {
			return list
		}
		seen[at], steps[at] = true, step{from, read}
		return append(list, to)
	}
	for len(now) > 0 {
		for k := 0; k < len(now); k++ { // The list grows during the loop, by steps that read no byte.
			s := now[k]
			starA, starB := s.i < len(a) && a[s.i] == '*', s.j < len(b) && b[s.j] == '*'
			if starA {
				now = visit(now, state{s.i + 1, s.j}, s, 0)
			}
			if starB {
				now = visit(now, state{s.i, s.j + 1}, s, 0)
			}
		}
		if seen[end.i*width+end.j] {
			break
		}
		next = next[:0]
		for _, s := range now {
			starA, starB := s.i < len(a) && a[s.i] == '*', s.j < len(b) && b[s.j] == '*'
			switch {
			case starA && !starB && s.j < len(b):
				next = visit(next, state{s.i, s.j + 1}, s, b[s.j])
			case starB && !starA && s.i < len(a):
				next = visit(next, state{s.i + 1, s.j}, s, a[s.i])
			case s.i < len(a) && s.j < len(b) && !starA && !starB && a[s.i] == b[s.j]:
				next = visit(next, state{s.i + 1, s.j + 1}, s, a[s.i])
			}
		}
		now, next = next, now
	}
	if !seen[end.i*width+end.j] {
		return "", false
	}
	var path []byte
	for s := end; s != (state{0, 0}); {
		from := steps[s.i*width+s.j]
		if from.read != 0 {
			path = append(path, from.read)
		}
		s = from.from
	}
	slices.Reverse(path)
	return ensureLeadingSlash(string(path)), true
}

// wholePathPattern converts a rule to a pattern for whole paths. wholePathPattern removes a final
// $, or else appends a wildcard, because a path may continue after the match.
func wholePathPattern(canonical string) string {
	if pattern, ok := strings.CutSuffix(canonical, "$"); ok {
		return pattern
	}
	return canonical + "*"
}

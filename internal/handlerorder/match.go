package handlerorder

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Matcher is the name and configuration of a request matcher.
type Matcher struct {
	Name   string
	Config json.RawMessage
}

// anyOf is the name that stands for several matcher sets in a route. At least one set has to match.
const anyOf = "any of"

// sortedMatchers returns the matchers of a matcher set, sorted by name.
func sortedMatchers(set map[string]json.RawMessage) (matchers []Matcher) {
	for _, name := range slices.Sorted(maps.Keys(set)) {
		matchers = append(matchers, Matcher{name, set[name]})
	}
	return matchers
}

// satisfiesInEachSet reports whether predicate returns true for m. If m is anyOf, each of its
// matcher sets needs a matcher for which predicate returns true.
func (m Matcher) satisfiesInEachSet(predicate func(Matcher) bool) bool {
	if m.Name != anyOf {
		return predicate(m)
	}
	var sets []map[string]json.RawMessage
	return json.Unmarshal(m.Config, &sets) == nil && !slices.ContainsFunc(sets, func(set map[string]json.RawMessage) bool {
		return !slices.ContainsFunc(sortedMatchers(set), predicate)
	})
}

// requestOnlyMatchers lists matchers that depend only on the request. They see no more of the
// client than its header.
var requestOnlyMatchers = []string{anyOf, "file", "header", "method", "not", "path", "path_regexp", "protocol", "query"}

// ignoresClient reports whether a matcher treats browsers and crawlers alike, because it looks
// neither at the User-Agent nor at the client's address.
func (m Matcher) ignoresClient() bool {
	config := bytes.ToLower(m.Config)
	return slices.Contains(requestOnlyMatchers, m.Name) && !bytes.Contains(config, []byte("user-agent")) && !bytes.Contains(config, []byte("robots_")) &&
		!bytes.Contains(config, []byte("_ip")) && !bytes.Contains(config, []byte("expression"))
}

// findVerdictMatcher returns a matcher in matcher sets that uses the verdict of a guard, even if
// negated. For a matcher in an expression, Config is the expression.
func findVerdictMatcher(sets []map[string]json.RawMessage) (Matcher, bool) {
	for _, set := range sets {
		for _, m := range sortedMatchers(set) {
			switch {
			case slices.Contains(verdictMatchers, m.Name):
				return m, true
			case m.Name == "expression":
				for _, name := range verdictMatchers {
					if bytes.Contains(m.Config, []byte(name+"(")) {
						return Matcher{name, m.Config}, true
					}
				}
			case m.Name == "not":
				var negated []map[string]json.RawMessage
				if json.Unmarshal(m.Config, &negated) != nil {
					continue
				}
				if found, ok := findVerdictMatcher(negated); ok {
					return found, true
				}
			}
		}
	}
	return Matcher{}, false
}

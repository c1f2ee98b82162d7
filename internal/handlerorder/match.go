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

// findDisallowedMatcher returns the configuration of the first robots_disallowed matcher in matcher
// sets, even if negated, or nil. For a matcher in an expression, findDisallowedMatcher returns the
// expression.
func findDisallowedMatcher(sets []map[string]json.RawMessage) json.RawMessage {
	for _, set := range sets {
		for name, config := range set {
			switch name {
			case Disallowed:
				return config
			case "expression":
				if bytes.Contains(config, []byte(Disallowed+"(")) {
					return config
				}
			case "not":
				var negated []map[string]json.RawMessage
				if json.Unmarshal(config, &negated) != nil {
					continue
				}
				if found := findDisallowedMatcher(negated); found != nil {
					return found
				}
			}
		}
	}
	return nil
}

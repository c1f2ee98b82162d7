package placement

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Match is a matcher.
type Match struct {
	Name   string
	Config json.RawMessage
}

// anyOf names a pseudo matcher for several matcher sets in a route. One of the sets has to match.
const anyOf = "any of"

// matchesOf returns the matchers of a set in a fixed order.
func matchesOf(set map[string]json.RawMessage) (all []Match) {
	for _, name := range slices.Sorted(maps.Keys(set)) {
		all = append(all, Match{name, set[name]})
	}
	return all
}

// inEach reports whether is returns true for a matcher. A matcher anyOf needs such a matcher in
// each set.
func (m Match) inEach(is func(Match) bool) bool {
	if m.Name != anyOf {
		return is(m)
	}
	var sets []map[string]json.RawMessage
	return json.Unmarshal(m.Config, &sets) == nil && !slices.ContainsFunc(sets, func(set map[string]json.RawMessage) bool {
		return !slices.ContainsFunc(matchesOf(set), is)
	})
}

// aboutRequest lists matchers that depend only on the request. They see no more of the client than
// its header.
var aboutRequest = []string{anyOf, "file", "header", "method", "not", "path", "path_regexp", "protocol", "query"}

// isForAnybody reports whether a matcher treats browsers and crawlers alike.
func (m Match) isForAnybody() bool {
	config := bytes.ToLower(m.Config)
	return slices.Contains(aboutRequest, m.Name) && !bytes.Contains(config, []byte("user-agent")) && !bytes.Contains(config, []byte("robots_")) &&
		!bytes.Contains(config, []byte("_ip")) && !bytes.Contains(config, []byte("expression"))
}

// disallowedIn returns the configuration of a [Disallowed] matcher in matcher sets, even if it is
// negated, or nil. If the matcher is in an expression, disallowedIn returns the expression.
func disallowedIn(sets []map[string]json.RawMessage) json.RawMessage {
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
				if found := disallowedIn(negated); found != nil {
					return found
				}
			}
		}
	}
	return nil
}

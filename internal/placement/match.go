package placement

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/textproto"
	"slices"
)

// Match is a matcher.
type Match struct {
	Name   string
	Config json.RawMessage
}

// anyOf names a matcher that stands for sets of others of which one has to match, as a
// route in JSON may have them.
const anyOf = "any of"

// matchesOf returns the matchers of a set, in one order.
func matchesOf(set map[string]json.RawMessage) (all []Match) {
	for _, name := range slices.Sorted(maps.Keys(set)) {
		all = append(all, Match{name, set[name]})
	}
	return all
}

// sets returns the sets of a matcher, anyOf or "not", of which one has to match, or none.
func (m Match) sets() (sets [][]Match) {
	var config []map[string]json.RawMessage
	if json.Unmarshal(m.Config, &config) != nil {
		return nil
	}
	for _, set := range config {
		sets = append(sets, matchesOf(set))
	}
	return sets
}

// inEach reports whether is is true of a matcher or, of anyOf, of one in each set.
func (m Match) inEach(is func(Match) bool) bool {
	if m.Name != anyOf {
		return is(m)
	}
	return !slices.ContainsFunc(m.sets(), func(set []Match) bool { return !slices.ContainsFunc(set, is) })
}

// isOfPaths reports whether a matcher goes by nothing but the path.
func (m Match) isOfPaths() bool {
	if m.Name != anyOf {
		return m.Name == "path"
	}
	return !slices.ContainsFunc(m.sets(), func(set []Match) bool {
		return slices.ContainsFunc(set, func(m Match) bool { return !m.isOfPaths() })
	})
}

// leavesOut reports whether a matcher goes by paths, and not for /robots.txt.
func (m Match) leavesOut() bool {
	switch m.Name {
	case "path":
		is, ok := isFor(m.Config, robotsTXTPath)
		return ok && !is
	case "not":
		return slices.ContainsFunc(m.sets(), func(set []Match) bool {
			if len(set) != 1 || set[0].Name != "path" {
				return false
			}
			is, ok := isFor(set[0].Config, robotsTXTPath)
			return ok && is
		})
	case anyOf:
		return m.inEach(Match.leavesOut)
	}
	return false
}

// aboutRequest are the matchers that look at what is asked for, and not at who asks.
var aboutRequest = []string{"file", "method", "path", "path_regexp", "protocol", "query"}

// isForAnybody reports whether a matcher looks at nothing that tells who asks.
func (m Match) isForAnybody() bool {
	switch m.Name {
	case "not", anyOf:
		sets := m.sets()
		return sets != nil && !slices.ContainsFunc(sets, func(set []Match) bool {
			return slices.ContainsFunc(set, func(m Match) bool { return !m.isForAnybody() })
		})
	case "header":
		var fields map[string]json.RawMessage
		if json.Unmarshal(m.Config, &fields) != nil {
			return false
		}
		for name := range fields {
			if textproto.CanonicalMIMEHeaderKey(name) == "User-Agent" {
				return false
			}
		}
		return true
	}
	return slices.Contains(aboutRequest, m.Name)
}

// ofVerdict begins the placeholders that have a value behind a guard.
var ofVerdict = []byte("{http.robots_guard.")

// ofFinding are the matchers that go by what a guard before them has found.
var ofFinding = []string{"robots_rate", "robots_preference"}

// blind returns the name of a matcher on a way that uses a verdict before there is one, ""
// for none.
func (y *way) blind() string {
	if y.before.nearestGuard() != nil {
		return ""
	}
	return blind(y.matches)
}

func blind(matches []Match) string {
	for _, m := range matches {
		if i := slices.IndexFunc(ofFinding, m.asks); i >= 0 {
			return ofFinding[i]
		}
		switch {
		case m.Name == "not", m.Name == anyOf:
			if name := blind(slices.Concat(m.sets()...)); name != "" {
				return name
			}
		case bytes.Contains(m.Config, ofVerdict):
			return m.Name
		}
	}
	return ""
}

// asks reports whether a matcher is one of that name, or an expression that has it.
func (m Match) asks(name string) bool {
	return m.Name == name || m.Name == "expression" && bytes.Contains(m.Config, []byte(name+"("))
}

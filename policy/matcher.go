package policy

import "strings"

// matcher contains the compiled rules of one group. A binary search finds rules that are a
// literal prefix or path. An index of bytes finds rules with an inner wildcard.
type matcher struct {
	literals literalRules
	patterns patternSet
}

// bestMatches collects the longest matching rules of both kinds.
type bestMatches struct {
	allow, disallow ruleMatch
}

// ruleMatch is a matching rule with its length in canonical form, which is its precedence. A
// length of 0 means no rule.
type ruleMatch struct {
	length        int32
	rule          int32         // index into Robots.rules
	normalization Normalization // of the variant of the target that the rule matches
}

// isAllowed is the verdict: a disallow rule must be longer than every matching allow rule.
func (o *bestMatches) isAllowed() bool { return o.disallow.length <= o.allow.length }

// canImproveWith reports whether a rule of that kind and length can change the verdict, or the rule
// named for it.
func (o *bestMatches) canImproveWith(allow bool, length, rule int32) bool {
	if allow {
		return length >= o.disallow.length && o.allow.isWeakerThan(length, rule)
	}
	return length > o.allow.length && o.disallow.isWeakerThan(length, rule)
}

// isWeakerThan reports whether a rule takes precedence over m.
func (m ruleMatch) isWeakerThan(length, rule int32) bool {
	return length > m.length || length == m.length && rule < m.rule
}

// add records that a rule matched a variant of the target. A rule of length 0 is ignored. A disallow
// rule is not compared with other variants of the query. RFC 9309 and Google's library differ about
// them, and a target is disallowed only if both disallow it.
func (o *bestMatches) add(allow bool, length, rule int32, normalization Normalization) {
	kind := &o.disallow
	if allow {
		kind = &o.allow
	} else if normalization&(QueryDecoded|QueryEncoded) != 0 {
		return
	}
	if kind.isWeakerThan(length, rule) {
		*kind = ruleMatch{length, rule, normalization}
	}
}

// addMatches adds the rules that match one variant of a target to out, unless the search exceeds its
// limit.
func (m *matcher) addMatches(target string, normalization Normalization, s *searchBudget, out *bestMatches) {
	m.literals.addMatches(target, normalization, out)
	if len(m.patterns.patterns) > 0 {
		m.patterns.addMatches(target, normalization, s, out)
	}
}

// newMatcher compiles rules, given as indices into r.rules in file order.
func newMatcher(r *Robots, rules []int32) *matcher {
	c := ruleCompiler{literals: make([]literalRule, 0, len(rules))}
	for _, i := range rules {
		x := r.rules[i]
		path := canonicalRule(x.path)
		if path == "" {
			continue // the rule matches nothing
		}
		c.add(path, x.allow, i)
		if directory, ok := impliedDirectoryRule(path); ok && x.allow {
			c.add(directory, true, i)
		}
	}
	return c.newMatcher()
}

// newMatcher returns the compiled rules.
func (c *ruleCompiler) newMatcher() *matcher {
	return &matcher{literals: newLiterals(c.literals), patterns: newPatternSet(c.patterns)}
}

// impliedDirectoryRule returns the rule that "Allow: /dir/index.html" implies for Google: allow
// /dir/ exactly.
func impliedDirectoryRule(path string) (string, bool) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 || !strings.HasPrefix(path[i:], "/index.htm") {
		return "", false
	}
	return path[:i+1] + "$", true
}

// ruleCompiler sorts rules by how they are matched.
type ruleCompiler struct {
	literals []literalRule
	patterns []pattern
}

// add adds a rule in canonical form. Every byte counts for its length. In matching, a run of
// stars is one star, and stars at the end have no effect.
func (c *ruleCompiler) add(path string, allow bool, rule int32) {
	length := int32(len(path))
	rest, anchored := strings.CutSuffix(path, "$")
	if trimmed := strings.TrimRight(rest, "*"); trimmed != rest {
		rest, anchored = trimmed, false // "*$" matches any end
	}
	for strings.Contains(rest, "**") {
		rest = strings.ReplaceAll(rest, "**", "*")
	}
	star := strings.IndexByte(rest, '*')
	if star < 0 {
		c.literals = append(c.literals, literalRule{rest, anchored, allow, length, rule})
		return
	}
	end := len(rest)
	if anchored {
		end = strings.LastIndexByte(rest, '*') + 1
	}
	c.patterns = append(c.patterns, pattern{rest, int32(star), int32(end), !strings.Contains(rest[star+1:end], "*"), allow, length, rule})
}

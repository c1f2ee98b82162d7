package policy

import "strings"

// matcher has the compiled rules of the groups of a crawler. A binary search finds matching rules
// without a wildcard inside, and an index of four bytes finds the rules with one.
type matcher struct {
	literals literalRules
	patterns patternSet
	// allowsEscapes reports whether an allow rule may match a query only if its / and ? are escaped.
	allowsEscapes bool
}

// bestMatches has the longest allow rule and the longest disallow rule that match a target.
type bestMatches struct {
	allow, disallow ruleMatch
}

// ruleMatch is a rule that matches a target. Among several, the longest wins, and the first in the
// file among equals. A length of 0 means no rule.
type ruleMatch struct {
	length        int32         // length is the length of the rule in canonical form, in bytes.
	rule          int32         // rule is the index into Robots.rules.
	normalization Normalization // This is the normalization of the variant of the target that the rule matches.
}

// isAllowed reports whether the target is allowed: no disallow rule matches, or an allow rule is at
// least as long.
func (o *bestMatches) isAllowed() bool { return o.disallow.length <= o.allow.length }

// canImproveWith reports whether a matching rule of that kind and length would change the verdict
// or the rule that the verdict names.
func (o *bestMatches) canImproveWith(allow bool, length, rule int32) bool {
	if allow {
		return length >= o.disallow.length && o.allow.isWeakerThan(length, rule)
	}
	return length > o.allow.length && o.disallow.isWeakerThan(length, rule)
}

// isWeakerThan reports whether a rule of the same kind takes precedence over m, because it is
// longer, or equally long and earlier in the file.
func (m ruleMatch) isWeakerThan(length, rule int32) bool {
	return length > m.length || length == m.length && rule < m.rule
}

// add adds a rule that matches a variant of the target, if it takes precedence over the known rule.
// A length of 0 means no rule. Matches of a disallow rule with a decoded or encoded query are
// ignored: RFC 9309 and Google's library differ about such queries, and a target is disallowed only
// if both disallow it.
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

// addMatches adds the rules that match one variant of a target to out. If s is exhausted, out can
// lack rules.
func (m *matcher) addMatches(target string, normalization Normalization, s *searchBudget, out *bestMatches) {
	m.literals.addMatches(target, normalization, out)
	if len(m.patterns.patterns) > 0 {
		m.patterns.addMatches(target, normalization, s, out)
	}
}

// newMatcher compiles some rules of r, given as indices into r.rules in file order.
func newMatcher(r *Robots, rules []int32) *matcher {
	c := ruleCompiler{literals: make([]literalRule, 0, len(rules))}
	for _, i := range rules {
		x := r.rules[i]
		path := canonicalRule(x.path)
		if path == "" {
			continue // The rule matches nothing.
		}
		c.add(path, x.allow, i)
		if directory, ok := impliedDirectoryRule(path); ok && x.allow {
			c.add(directory, true, i)
		}
	}
	return c.newMatcher()
}

// newMatcher returns the matcher of the added rules.
func (c *ruleCompiler) newMatcher() *matcher {
	return &matcher{literals: newLiteralRules(c.literals), patterns: newPatternSet(c.patterns), allowsEscapes: c.allowsEscapes}
}

// impliedDirectoryRule returns the rule that an allow rule such as /dir/index.html implies for
// Google: /dir/$, which matches only the directory itself. ok is false for other rules.
func impliedDirectoryRule(path string) (directory string, ok bool) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 || !strings.HasPrefix(path[i:], "/index.htm") {
		return "", false
	}
	return path[:i+1] + "$", true
}

// ruleCompiler collects the rules for a matcher, separated into rules without and with a wildcard
// before their end.
type ruleCompiler struct {
	literals      []literalRule
	patterns      []pattern
	allowsEscapes bool // allowsEscapes is true if an allow rule may match a query only if its / and ? are escaped.
}

// add adds a rule, whose path is in canonical form, with its index in Robots.rules. Every byte of
// the path counts for the length of the rule. In matching, a run of stars is one star, and stars at
// the end have no effect.
func (c *ruleCompiler) add(path string, allow bool, rule int32) {
	length := int32(len(path))
	c.allowsEscapes = c.allowsEscapes || allow && canMatchInEscape(path)
	rest, anchored := strings.CutSuffix(path, "$")
	if trimmed := strings.TrimRight(rest, "*"); trimmed != rest {
		rest, anchored = trimmed, false // The ending "*$" matches any end.
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

// canMatchInEscape reports whether a rule in canonical form can match a part of an escaped / or ?,
// which are %2F and %3F. The rule then contains such an escape, or the text after a star begins like
// the end of such an escape, for example with 2F or F. In canonical form the text before a star never
// ends within an escape, because a % that begins no escape is %25.
func canMatchInEscape(path string) bool {
	for i, part := range strings.Split(strings.TrimSuffix(path, "$"), "*") {
		if strings.Contains(part, "%2F") || strings.Contains(part, "%3F") {
			return true
		}
		if i > 0 && (part == "2" || part == "3" || strings.HasPrefix(part, "2F") || strings.HasPrefix(part, "3F") || strings.HasPrefix(part, "F")) {
			return true
		}
	}
	return false
}

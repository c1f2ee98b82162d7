package policy

import (
	"cmp"
	"slices"
	"strings"
)

// literalRule is a rule without a wildcard before its end. Such a rule matches the targets that
// start with its text, or, if anchored, that equal its text.
type literalRule struct {
	text     string
	anchored bool
	allow    bool
	length   int32 // length is the length of the rule in canonical form, as in ruleMatch.
	rule     int32 // rule is the index into Robots.rules.
}

// literalRules finds the longest literal rules that match a target.
type literalRules struct {
	prefixIndex
	matchesByText []literalTextMatches // The index is that of the text.
}

// literalTextMatches has the longest literal rules for targets with one text.
type literalTextMatches struct {
	prefix bestMatches // These are the longest rules for targets that start with the text.
	exact  bestMatches // These are the longest anchored rules for targets that equal the text.
}

// newLiteralRules compiles literal rules. It may reorder the rules.
func newLiteralRules(rules []literalRule) literalRules {
	if len(rules) == 0 {
		return literalRules{}
	}
	rules = sortByText(rules)
	texts := distinctTexts(rules)
	l := literalRules{newPrefixIndex(texts), make([]literalTextMatches, len(texts))}
	last := -1
	for i, x := range rules {
		if i == 0 || x.text != rules[i-1].text {
			if last++; l.parents[last] >= 0 {
				l.matchesByText[last].prefix = l.matchesByText[l.parents[last]].prefix
			}
		}
		if x.anchored {
			l.matchesByText[last].exact.add(x.allow, x.length, x.rule, 0)
		} else {
			l.matchesByText[last].prefix.add(x.allow, x.length, x.rule, 0)
		}
	}
	return l
}

// sortByText returns the rules sorted by text. It may reorder its argument. Most comparisons use
// only the first 16 bytes after the common prefix, as numbers.
func sortByText(rules []literalRule) []literalRule {
	if len(rules) <= maxUnkeyedPrefixes {
		slices.SortFunc(rules, func(a, b literalRule) int { return strings.Compare(a.text, b.text) })
		return rules
	}
	common := len(rules[0].text)
	for i := range rules {
		common = min(common, commonPrefix(rules[0].text, rules[i].text))
	}
	type sortKey struct {
		key, more uint64
		index     int
	}
	keys := make([]sortKey, len(rules))
	for i := range rules {
		text := rules[i].text[common:]
		keys[i] = sortKey{prefixKey(text), prefixKey(text[min(8, len(text)):]), i}
	}
	slices.SortFunc(keys, func(a, b sortKey) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		if a.more != b.more {
			return cmp.Compare(a.more, b.more)
		}
		return strings.Compare(rules[a.index].text, rules[b.index].text)
	})
	result := make([]literalRule, len(rules))
	for i := range keys {
		result[i] = rules[keys[i].index]
	}
	return result
}

// distinctTexts returns the different texts of sorted rules.
func distinctTexts(rules []literalRule) []string {
	texts := make([]string, len(rules))
	for i := range rules {
		texts[i] = rules[i].text
	}
	return slices.Compact(texts)
}

// addMatches adds the longest literal rules that match one variant of a target to out.
// normalization is the normalization of the variant.
func (l *literalRules) addMatches(target string, normalization Normalization, out *bestMatches) {
	i := l.findLongestPrefix(target)
	if i < 0 {
		return
	}
	e := &l.matchesByText[i]
	out.addLiteralMatches(&e.prefix, normalization)
	if len(l.texts[i]) == len(target) {
		out.addLiteralMatches(&e.exact, normalization)
	}
}

// addLiteralMatches adds the allow rule and the disallow rule of found.
func (o *bestMatches) addLiteralMatches(found *bestMatches, normalization Normalization) {
	o.add(true, found.allow.length, found.allow.rule, normalization)
	o.add(false, found.disallow.length, found.disallow.rule, normalization)
}

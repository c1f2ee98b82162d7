package policy

import (
	"cmp"
	"slices"
	"strings"
)

// literal is a rule without an inner wildcard. It matches targets that start with its text,
// or that equal it if the rule is anchored.
type literal struct {
	text     string
	anchored bool
	allow    bool
	length   int32
	rule     int32
}

// literals finds the best of many literal rules.
type literals struct {
	prefixes
	entries []literalEntry // by text
}

type literalEntry struct {
	prefix outcome // the best rules for targets that start with the text
	exact  outcome // the best rules for targets that equal the text
}

func newLiterals(rules []literal) literals {
	if len(rules) == 0 {
		return literals{}
	}
	rules = sorted(rules)
	texts := distinct(rules)
	l := literals{newPrefixes(texts), make([]literalEntry, len(texts))}
	last := -1
	for i, x := range rules {
		if i == 0 || x.text != rules[i-1].text {
			if last++; l.parents[last] >= 0 {
				l.entries[last].prefix = l.entries[l.parents[last]].prefix
			}
		}
		if x.anchored {
			l.entries[last].exact.take(x.allow, x.length, x.rule, 0)
		} else {
			l.entries[last].prefix.take(x.allow, x.length, x.rule, 0)
		}
	}
	return l
}

// sorted returns the rules sorted by text. Most comparisons use only the first bytes after
// the common prefix, as numbers.
func sorted(rules []literal) []literal {
	if len(rules) <= fewPrefixes {
		slices.SortFunc(rules, func(a, b literal) int { return strings.Compare(a.text, b.text) })
		return rules
	}
	common := len(rules[0].text)
	for i := range rules {
		common = min(common, commonPrefix(rules[0].text, rules[i].text))
	}
	type place struct {
		key, more uint64
		index     int
	}
	places := make([]place, len(rules))
	for i := range rules {
		text := rules[i].text[common:]
		places[i] = place{keyOf(text), keyOf(text[min(8, len(text)):]), i}
	}
	slices.SortFunc(places, func(a, b place) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		if a.more != b.more {
			return cmp.Compare(a.more, b.more)
		}
		return strings.Compare(rules[a.index].text, rules[b.index].text)
	})
	all := make([]literal, len(rules))
	for i := range places {
		all[i] = rules[places[i].index]
	}
	return all
}

// distinct returns the different texts of sorted rules.
func distinct(rules []literal) []string {
	texts := make([]string, len(rules))
	for i := range rules {
		texts[i] = rules[i].text
	}
	return slices.Compact(texts)
}

// match adds the best literal rules for a target to out.
func (l *literals) match(target string, form Form, out *outcome) {
	i := l.find(target)
	if i < 0 {
		return
	}
	e := &l.entries[i]
	out.takeAll(&e.prefix, form)
	if len(l.texts[i]) == len(target) {
		out.takeAll(&e.exact, form)
	}
}

// takeAll records the matches of a literal.
func (o *outcome) takeAll(found *outcome, form Form) {
	o.take(true, found.allow.length, found.allow.rule, form)
	o.take(false, found.disallow.length, found.disallow.rule, form)
}

package ledger

import (
	"slices"

	"github.com/robotsguard/caddy-robots-guard/internal/spacesaving"
)

// A rule that an edit of the robots.txt leaves as it is, or moves to another
// line, is the same rule: its count goes on, with the version and the line in
// which it decided last.

// same reports whether two keys are of one rule, whatever the version and line.
func (k RuleKey) same(other RuleKey) bool {
	return k.Text == other.Text && k.Group == other.Group && k.Verdict == other.Verdict
}

// moved returns the key with the place of another one.
func (k RuleKey) moved(to RuleKey) RuleKey {
	k.Version, k.Line = to.Version, to.Line
	return k
}

// same is that of a rule, at one path of one host, with one outcome.
func (k PathKey) same(other PathKey) bool {
	return k.Path == other.Path && k.Host == other.Host && k.Blocked == other.Blocked && k.Name == other.Name && k.RuleKey.same(other.RuleKey)
}

func (k PathKey) moved(to PathKey) PathKey {
	k.RuleKey = k.RuleKey.moved(to.RuleKey)
	return k
}

// continued returns the key under which a request is counted. If the rule was
// counted at another place before, what is later gives the place.
func continued[K comparable](s *spacesaving.Sketch[K], key K, at int64, same func(K, K) bool, moved func(K, K) K) K {
	if s.Index(key) >= 0 {
		return key
	}
	i := slices.IndexFunc(s.Items, func(item spacesaving.Item[K]) bool { return same(item.Key, key) })
	if i < 0 {
		return key
	}
	if at >= s.Items[i].Last {
		s.Rekey(i, moved(s.Items[i].Key, key))
	}
	return s.Items[i].Key
}

// aligned returns another sketch in which rules have the same places as in this
// one: for each, the place where it decided last.
func aligned[K comparable](s *spacesaving.Sketch[K], other spacesaving.Sketch[K], same func(K, K) bool, moved func(K, K) K) spacesaving.Sketch[K] {
	other = other.Clone()
	for i, item := range other.Items {
		key := continued(s, item.Key, item.Last, same, moved)
		if key != item.Key && other.Index(key) < 0 {
			other.Rekey(i, key)
		}
	}
	return other
}

package ledger

import "github.com/robotsguard/caddy-robots-guard/internal/spacesaving"

// An edit of a robots.txt can leave a rule unchanged or move it to another line. The rule then
// keeps its count. Its version and line are those of its last decision.

// isSameRule reports whether two keys have the same rule, group and verdict. They may differ in
// version and line.
func (k *RuleKey) isSameRule(other *RuleKey) bool {
	return k.Text == other.Text && k.Group == other.Group && k.Verdict == other.Verdict
}

// withVersionAndLine returns k with the version and line of another key.
func (k RuleKey) withVersionAndLine(to RuleKey) RuleKey {
	k.Version, k.Line = to.Version, to.Line
	return k
}

// isSamePath reports whether two keys have the same path, host, client name, outcome and rule. The
// rule may differ in version and line.
func (k *PathKey) isSamePath(other *PathKey) bool {
	return k.Path == other.Path && k.Host == other.Host && k.Blocked == other.Blocked && k.Name == other.Name && k.RuleKey.isSameRule(&other.RuleKey)
}

func (k PathKey) withVersionAndLine(to PathKey) PathKey {
	k.RuleKey = k.RuleKey.withVersionAndLine(to.RuleKey)
	return k
}

// updateRuleLocation returns the key under which the sketch counts a request. If the sketch has the
// same rule with another version or line, the rule gets the later version and line. same reports
// whether a key of the sketch has the same rule.
func updateRuleLocation[K comparable](s *spacesaving.Sketch[K], key K, at int64, same func(*K) bool, withVersionAndLine func(K, K) K) K {
	if s.PositionOf(key) >= 0 {
		return key
	}
	for i := range s.Items {
		item := &s.Items[i]
		if !same(&item.Key) {
			continue
		}
		if at >= item.Last {
			s.ReplaceKey(i, withVersionAndLine(item.Key, key))
		}
		return item.Key
	}
	return key
}

// alignRuleLocations returns a copy of other for merging into s. A rule that both contain gets the
// same version and line in both: those of its last decision.
func alignRuleLocations[K comparable](s *spacesaving.Sketch[K], other spacesaving.Sketch[K], same func(k, other *K) bool, withVersionAndLine func(K, K) K) spacesaving.Sketch[K] {
	other = other.Clone()
	for i, item := range other.Items {
		key := updateRuleLocation(s, item.Key, item.Last, func(k *K) bool { return same(&item.Key, k) }, withVersionAndLine)
		if key != item.Key && other.PositionOf(key) < 0 {
			other.ReplaceKey(i, key)
		}
	}
	return other
}

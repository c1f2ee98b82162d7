package ledger

import "github.com/robotsguard/caddy-robots-guard/internal/spacesaving"

// An edit of a robots.txt can leave a rule unchanged or move it to another line. The rule
// then keeps its count, with the version and line of its last decision.

// isSameRule reports whether two keys belong to the same rule, ignoring version and line.
func (k *RuleKey) isSameRule(other *RuleKey) bool {
	return k.Text == other.Text && k.Group == other.Group && k.Verdict == other.Verdict
}

// withPlaceOf returns k with the version and line of to.
func (k RuleKey) withPlaceOf(to RuleKey) RuleKey {
	k.Version, k.Line = to.Version, to.Line
	return k
}

// isSamePath also requires the same path, host, name and outcome.
func (k *PathKey) isSamePath(other *PathKey) bool {
	return k.Path == other.Path && k.Host == other.Host && k.Blocked == other.Blocked && k.Name == other.Name && k.RuleKey.isSameRule(&other.RuleKey)
}

func (k PathKey) withPlaceOf(to PathKey) PathKey {
	k.RuleKey = k.RuleKey.withPlaceOf(to.RuleKey)
	return k
}

// continueKey returns the key for counting a request. If the sketch contains the rule at another
// place, the newer place replaces the older place. same compares two keys.
func continueKey[K comparable](s *spacesaving.Sketch[K], key K, at int64, same func(*K) bool, withPlaceOf func(K, K) K) K {
	if s.PositionOf(key) >= 0 {
		return key
	}
	for i := range s.Items {
		item := &s.Items[i]
		if !same(&item.Key) {
			continue
		}
		if at >= item.Last {
			s.ReplaceKey(i, withPlaceOf(item.Key, key))
		}
		return item.Key
	}
	return key
}

// alignSketch returns a copy of other in which each rule has the place of its last decision in s
// or other.
func alignSketch[K comparable](s *spacesaving.Sketch[K], other spacesaving.Sketch[K], same func(k, other *K) bool, withPlaceOf func(K, K) K) spacesaving.Sketch[K] {
	other = other.Clone()
	for i, item := range other.Items {
		key := continueKey(s, item.Key, item.Last, func(k *K) bool { return same(&item.Key, k) }, withPlaceOf)
		if key != item.Key && other.PositionOf(key) < 0 {
			other.ReplaceKey(i, key)
		}
	}
	return other
}

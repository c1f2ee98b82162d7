package policy

// decide reports whether the rules allow a target, and sets best to the deciding rules. The variants
// of a target are usually spellings of one path, and the best rule over all variants decides. If a
// variant has resolved dot segments or comes from the part after a scheme, the variants are different
// paths. Each path, in all variants of its query, is then decided alone, and the target is allowed
// only if all paths are allowed.
//
// decide skips the variants with an operation in excludedOperations. comparedAny is false if it
// skipped all.
func (s *interpretation) decide(variants []variant, excludedOperations Normalization, work *searchBudget, best *bestMatches) (allowed, comparedAny bool) {
	if len(variants) == 1 || !mayBeDifferentPaths(variants) {
		comparedAny = s.addMatches(variants, excludedOperations, work, best)
		return best.isAllowed(), comparedAny
	}
	allowed = true
	for len(variants) > 0 {
		end := 1
		for end < len(variants) && variants[end].sharesPath {
			end++
		}
		var path bestMatches
		comparedAny = s.addMatches(variants[:end], excludedOperations, work, &path) || comparedAny
		best.addPathResult(&path)
		allowed = allowed && path.isAllowed()
		variants = variants[end:]
	}
	return allowed, comparedAny
}

// addMatches adds the rules that match the variants of one path to best. excludedOperations and
// comparedAny have the same meaning as in decide. A variant with an escaped query can only match
// allow rules. addMatches skips the variant if no allow rule can match within an escape.
func (s *interpretation) addMatches(variants []variant, excludedOperations Normalization, work *searchBudget, best *bestMatches) (comparedAny bool) {
	if !s.matcher.allowsEscapes {
		excludedOperations |= QueryEncoded
	}
	for i := range variants {
		if x := &variants[i]; x.normalization&excludedOperations == 0 {
			s.matcher.addMatches(x.text, x.normalization, work, best)
			comparedAny = true
		}
	}
	return comparedAny
}

// addPathResult adds the deciding rule of one path to the result of several paths. A disallow rule
// of any path takes precedence over all allow rules.
func (o *bestMatches) addPathResult(pathResult *bestMatches) {
	if pathResult.isAllowed() {
		o.add(true, pathResult.allow.length, pathResult.allow.rule, pathResult.allow.normalization)
	} else {
		o.add(false, pathResult.disallow.length, pathResult.disallow.rule, pathResult.disallow.normalization)
	}
}

// mayBeDifferentPaths reports whether some variant is another path than the target as sent, not
// only another spelling. That is a path with resolved dot segments, or the part after a scheme.
func mayBeDifferentPaths(variants []variant) bool {
	for i := range variants {
		if variants[i].normalization&(DotSegmentsResolved|SchemeRemoved) != 0 {
			return true
		}
	}
	return false
}

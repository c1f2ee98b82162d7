package policy

import "slices"

// Restricts reports whether some rule disallows something for some crawler. Restricts ignores rules
// that match nothing, groups without a valid name and [TrainingToken]. Restricts does not check
// whether an allow rule cancels every disallow rule.
func (r *Robots) Restricts() bool {
	return slices.ContainsFunc(r.rules, func(x rule) bool {
		if x.allow || matchesNothing(x.path) {
			return false
		}
		g := r.groups[x.group]
		return slices.ContainsFunc(r.agents[g.agentFrom:g.agentTo], func(a agent) bool {
			return isWildcardName(a.name) || a.name != "" && a.name[0] != '*' && !IsTraining(a.name)
		})
	})
}

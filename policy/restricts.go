package policy

import "slices"

// Restricts reports whether the file has a disallow rule that can match a target, in a group that
// applies to some crawler. Groups without a valid name and the group [TrainingToken] do not count.
// Restricts does not check whether allow rules cancel all disallow rules.
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

package policy

import "slices"

// Restricts reports whether some rule forbids something to some crawler. A rule
// that matches nothing forbids nothing, and a group whose names are none, or [TrainingToken], is
// for nobody. Whether an Allow line takes back all that is forbidden is not looked at.
func (r *Robots) Restricts() bool {
	return slices.ContainsFunc(r.rules, func(x rule) bool {
		if x.allow || matchesNothing(x.path) {
			return false
		}
		g := r.groups[x.group]
		return slices.ContainsFunc(r.agents[g.agentFrom:g.agentTo], func(a agent) bool {
			return isGlobal(a.name) || a.name != "" && a.name[0] != '*' && !IsTraining(a.name)
		})
	})
}

package policy

import "strconv"

// checkGroups reports names in several groups, and groups without rules.
func (p *parser) checkGroups() {
	r := p.robots
	last := newAgentByName(len(r.agents))
	for i, a := range r.agents {
		if previous, ok := r.findPreviousAgent(i, last); ok && previous.group != a.group && a.name != "" {
			p.report(RepeatedGroup, Info, a.line, "%s also has a group in line "+strconv.Itoa(int(previous.line))+
				"; the rules of both groups apply together, but some crawlers obey only one; join the groups", a.name)
		}
	}
	for _, g := range r.groups {
		if g.ruleFrom == g.ruleTo {
			first := r.agents[g.agentFrom]
			p.report(GroupWithoutRule, Info, first.line, "there is no rule under %s, so this group allows everything; add an empty Disallow line to make this explicit", first.name)
		}
	}
}

// newAgentByName returns an empty table for the names of many lines. For few lines newAgentByName
// returns nil, because comparing each line is fast enough.
func newAgentByName(lines int) map[string]agent {
	if lines <= maxUnindexedNames {
		return nil
	}
	return make(map[string]agent, lines)
}

// findPreviousAgent returns the last user-agent line with the same name before line i. last has the
// last line of each name and is updated; it is nil for few lines.
func (r *Robots) findPreviousAgent(i int, last map[string]agent) (previous agent, ok bool) {
	name := r.agents[i].name
	if last != nil {
		word := "*"
		if !isWildcardName(name) {
			word = toLowerASCII(name)
		}
		previous, ok = last[word]
		last[word] = r.agents[i]
		return previous, ok
	}
	for i--; i >= 0; i-- {
		if other := r.agents[i].name; isWildcardName(name) && isWildcardName(other) || len(other) == len(name) && hasPrefixFold(other, name) {
			return r.agents[i], true
		}
	}
	return agent{}, false
}

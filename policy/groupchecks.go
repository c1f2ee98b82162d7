package policy

import "strconv"

// checkGroups reports a finding for each name that several groups have, and for each group without
// rules.
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

// newAgentByName returns an empty map for findPreviousAgent. newAgentByName returns nil for a few
// lines, for which findPreviousAgent compares each line.
func newAgentByName(lines int) map[string]agent {
	if lines <= maxUnindexedNames {
		return nil
	}
	return make(map[string]agent, lines)
}

// findPreviousAgent returns the last user-agent line before the line with index i that has the same
// name. last maps each name to its last line, and findPreviousAgent adds line i to it. If last is
// nil, each line is compared.
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

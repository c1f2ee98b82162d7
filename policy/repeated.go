package policy

import "strconv"

// checkGroups reports names in several groups, and groups without rules.
func (p *parser) checkGroups() {
	r := p.robots
	last := tableOfNames(len(r.agents))
	for i, a := range r.agents {
		if before, ok := r.before(i, last); ok && before.group != a.group && a.name != "" {
			p.report(RepeatedGroup, Info, a.line, "%s was named in line "+strconv.Itoa(int(before.line))+
				" already; the rules of both places apply together, but some crawlers obey one only, so join them", a.name)
		}
	}
	for _, g := range r.groups {
		if g.ruleFrom == g.ruleTo {
			first := r.agents[g.agentFrom]
			p.report(GroupWithoutRule, Info, first.line, "there is no rule under %s, so this group allows everything; an empty Disallow line would say so", first.name)
		}
	}
}

// tableOfNames returns an empty table for the names of many lines. For few lines it returns nil,
// and each line is compared.
func tableOfNames(lines int) map[string]agent {
	if lines <= fewNames {
		return nil
	}
	return make(map[string]agent, lines)
}

// before returns the last user-agent line with the same name before line i. last is an index
// for many lines, which before updates.
func (r *Robots) before(i int, last map[string]agent) (before agent, ok bool) {
	name := r.agents[i].name
	if last != nil {
		word := "*"
		if !isGlobal(name) {
			word = folded(name)
		}
		before, ok = last[word]
		last[word] = r.agents[i]
		return before, ok
	}
	for i--; i >= 0; i-- {
		if other := r.agents[i].name; isGlobal(name) && isGlobal(other) || len(other) == len(name) && startsFolded(other, name) {
			return r.agents[i], true
		}
	}
	return agent{}, false
}

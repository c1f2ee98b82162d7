package policy

import (
	"encoding/binary"
	"maps"
)

// maxWeight bounds what is kept compiled of one file, counted in rules, groups
// and user-agent lines. A file can be made to name very many crawlers in the
// same large groups; whoever does that pays with compiling them more often.
func (r *Robots) maxWeight() int { return 4*(len(r.rules)+len(r.agents)) + 4096 }

// selections are the groups compiled so far. They never change: a longer set
// takes their place.
type selections struct {
	global *Selection
	named  map[string]*Selection // by folded token
}

// of returns the selection of a folded token, empty for the * group; nil if
// there is none.
func (x *selections) of(folded []byte) *Selection {
	switch {
	case x == nil:
		return nil
	case len(folded) == 0:
		return x.global
	}
	return x.named[string(folded)]
}

// selection returns the compiled groups of the agents, which a folded token
// chose, for the * group an empty one.
func (r *Robots) selection(folded []byte, agents []int32) *Selection {
	if s := r.selections.Load().of(folded); s != nil {
		return s
	}
	r.compiling.Lock()
	defer r.compiling.Unlock()
	old := r.selections.Load()
	if s := old.of(folded); s != nil {
		return s // compiled by another goroutine meanwhile
	}
	s := r.compile(agents)
	next := &selections{named: make(map[string]*Selection)}
	if r.weight > r.maxWeight() {
		r.matchers, r.weight = nil, 0 // start anew
	} else if old != nil {
		next.global = old.global
		maps.Copy(next.named, old.named)
	}
	if len(folded) == 0 {
		next.global = s
	} else {
		next.named[string(folded)] = s
	}
	r.selections.Store(next)
	return s
}

// compile merges the groups of the agents.
func (r *Robots) compile(agents []int32) *Selection {
	s := &Selection{robots: r, agents: agents}
	s.joined = r.matcher(r.groupsOf(agents, false))
	s.split = s.joined
	if r.contested {
		s.split = r.matcher(r.groupsOf(agents, true))
	}
	r.weight += 1 + len(agents)
	return s
}

// groupsOf returns the groups whose rules the agents obey, in file order.
// split chooses the reading in which an extension line parts user-agent lines.
func (r *Robots) groupsOf(agents []int32, split bool) []int32 {
	var groups []int32
	last := int32(-1)
	for _, i := range agents {
		g := r.agents[i].group
		if g == last || split && i < r.groups[g].split || r.groups[g].ruleFrom == r.groups[g].ruleTo {
			continue
		}
		groups = append(groups, g)
		last = g
	}
	return groups
}

// matcher compiles the rules of some groups. The many crawlers that are named
// above the same rules share one matcher.
func (r *Robots) matcher(groups []int32) *matcher {
	var buf []byte
	for _, g := range groups {
		buf = binary.AppendUvarint(buf, uint64(g))
	}
	key := string(buf)
	if m := r.matchers[key]; m != nil {
		return m
	}
	var rules []int32
	for _, g := range groups {
		for i := r.groups[g].ruleFrom; i < r.groups[g].ruleTo; i++ {
			rules = append(rules, i)
		}
	}
	if r.matchers == nil {
		r.matchers = make(map[string]*matcher)
	}
	m := newMatcher(r, rules)
	r.matchers[key] = m
	r.weight += len(groups) + len(rules)
	return m
}

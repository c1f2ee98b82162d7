package policy

import (
	"encoding/binary"
	"maps"
)

// maxWeight is the maximum weight of the compiled groups that are cached for a file, in
// rules, groups and user-agent lines. A file that names very many crawlers in large groups is
// compiled more often.
func (r *Robots) maxWeight() int { return 4*(len(r.rules)+len(r.agents)) + 4096 }

// maxRecent is the maximum number of cached crawlers, which are copied for each new crawler.
const maxRecent = 1 << 7

// choice is the merged groups of a crawler in one interpretation.
type choice struct {
	robots *Robots
	agents []int32 // the user-agent lines that chose the groups, in file order
	named  bool    // the agents name the crawler and are not *
	// extensionsIgnored and extensionsSplit differ in the treatment of an extension line such
	// as Crawl-delay between two user-agent lines. The first ignores it, as Google's parser
	// does. In the second it begins another group. They are equal in most files.
	extensionsIgnored, extensionsSplit *matcher
	selection                          Selection // in both interpretations

	wellKnown wellKnown
	usages    *statements // from Content-Usage; nil without such lines
	signals   *statements // from Content-Signal; nil without such lines
	delay     Delay       // from Crawl-delay
	hasDelay  bool        // a Crawl-delay line exists, perhaps with 0
}

// choices are the compiled groups. A set is immutable; additions replace it.
type choices struct {
	global        *choice
	recent, named map[string]*choice // by folded token
}

// of returns the choice of a folded token, or nil. The empty token is the * group.
func (x *choices) of(folded []byte) *choice {
	switch {
	case x == nil:
		return nil
	case len(folded) == 0:
		return x.global
	}
	if c := x.recent[string(folded)]; c != nil {
		return c
	}
	return x.named[string(folded)]
}

// add adds a choice to a set before its publication.
func (x *choices) add(token string, c *choice) {
	recent := make(map[string]*choice, len(x.recent)+1)
	maps.Copy(recent, x.recent)
	recent[token] = c
	if len(recent) < maxRecent {
		x.recent = recent
		return
	}
	named := make(map[string]*choice, len(x.named)+len(recent))
	maps.Copy(named, x.named)
	maps.Copy(named, recent)
	x.recent, x.named = nil, named
}

// choice returns the compiled groups of the agents of a folded token, which is empty for the
// * group.
func (r *Robots) choice(folded []byte, agents []int32) *choice {
	if c := r.choices.Load().of(folded); c != nil {
		return c
	}
	r.compiling.Lock()
	defer r.compiling.Unlock()
	old := r.choices.Load()
	if c := old.of(folded); c != nil {
		return c // compiled by another goroutine meanwhile
	}
	c := r.compile(agents)
	c.named = len(folded) > 0
	next := new(choices)
	if r.weight > r.maxWeight() {
		r.matchers, r.weight = nil, 0 // drop all
	} else if old != nil {
		*next = *old
	}
	if c.named {
		next.add(string(folded), c)
	} else {
		next.global = c
	}
	r.choices.Store(next)
	return c
}

// compile merges the groups of the agents.
func (r *Robots) compile(agents []int32) *choice {
	c := &choice{robots: r, agents: agents}
	c.extensionsIgnored = r.matcher(r.groupsOf(agents, false))
	c.extensionsSplit = c.extensionsIgnored
	if r.contested {
		c.extensionsSplit = r.matcher(r.groupsOf(agents, true))
	}
	c.delay, c.hasDelay = r.delayOf(agents)
	c.usages, c.signals = r.statementsOf(agents)
	c.selection = Selection{forgiving: side{c, c.extensionsIgnored}, strict: side{c, c.extensionsSplit}}
	r.weight += 1 + len(agents)
	for _, s := range []*statements{c.usages, c.signals} {
		if s != nil {
			r.weight += len(s.lines)
		}
	}
	return c
}

// groupsOf returns the groups whose rules the agents obey, in file order. With extensionsSplit
// an extension line between user-agent lines begins another group.
func (r *Robots) groupsOf(agents []int32, extensionsSplit bool) []int32 {
	var groups []int32
	last := int32(-1)
	for _, i := range agents {
		g := r.agents[i].group
		if g == last || extensionsSplit && i < r.groups[g].splitAt || r.groups[g].ruleFrom == r.groups[g].ruleTo {
			continue
		}
		groups = append(groups, g)
		last = g
	}
	return groups
}

// matcher returns the compiled rules of some groups. Crawlers with the same groups share a
// matcher.
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

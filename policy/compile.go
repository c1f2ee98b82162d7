package policy

import (
	"encoding/binary"
	"maps"
)

// maxCacheWeight returns the maximum size of the compiled groups that are cached for a file, as a
// number of rules, groups and user-agent lines. Beyond this number all compiled groups are dropped.
// Only a file that names very many crawlers in large groups reaches it, and is then compiled more
// often.
func (r *Robots) maxCacheWeight() int { return 4*(len(r.rules)+len(r.agents)) + 4096 }

// maxRecentTokens is the maximum length of groupCache.recentByToken, which is copied for each added
// token.
const maxRecentTokens = 1 << 7

// compiledGroup has the merged groups of a crawler, compiled for fast verdicts. Robots and
// Robots.withStrictKeys each have a compiledGroup for the crawler.
type compiledGroup struct {
	robots       *Robots
	agents       []int32 // agents are the user-agent lines that name the crawler, or those with *, in file order.
	namesCrawler bool    // namesCrawler is true if the agents name the crawler and are not *.
	// extensionsIgnored and extensionsSplit are the rules for two treatments of an extension line,
	// such as Crawl-delay, between two user-agent lines. In extensionsIgnored the line has no
	// effect, as in Google's parser. In extensionsSplit the line begins another group. Both are the
	// same matcher in most files.
	extensionsIgnored, extensionsSplit *matcher
	// selection is the selection if both interpretations accept misspelled keys and missing colons.
	// They then differ only in the treatment of extension lines.
	selection SelectedGroup

	wellKnown wellKnownMatchers
	usages    *statements // usages are from Content-Usage. It is nil without such lines.
	signals   *statements // signals are from Content-Signal. It is nil without such lines.
	delay     Delay       // delay is from Crawl-delay.
	hasDelay  bool        // hasDelay is true if a Crawl-delay line exists, perhaps with 0.
}

// groupCache maps the product token of a crawler, in lower case, to its compiled group. It is
// immutable: an addition stores a changed copy.
type groupCache struct {
	wildcard *compiledGroup // wildcard is the * group. It is nil until it is compiled.
	// Additions copy only recentByToken, and move its content to byToken when it is full.
	recentByToken, byToken map[string]*compiledGroup
}

// get returns the compiled group of a product token in lower case, or nil. The empty token is the *
// group. x can be nil.
func (x *groupCache) get(lowerToken []byte) *compiledGroup {
	switch {
	case x == nil:
		return nil
	case len(lowerToken) == 0:
		return x.wildcard
	}
	if c := x.recentByToken[string(lowerToken)]; c != nil {
		return c
	}
	return x.byToken[string(lowerToken)]
}

// add adds the compiled group of a token. The cache must not be in use yet.
func (x *groupCache) add(token string, c *compiledGroup) {
	recent := make(map[string]*compiledGroup, len(x.recentByToken)+1)
	maps.Copy(recent, x.recentByToken)
	recent[token] = c
	if len(recent) < maxRecentTokens {
		x.recentByToken = recent
		return
	}
	named := make(map[string]*compiledGroup, len(x.byToken)+len(recent))
	maps.Copy(named, x.byToken)
	maps.Copy(named, recent)
	x.recentByToken, x.byToken = nil, named
}

// getOrCompileGroup returns the compiled group of a product token in lower case, or of the * group
// for an empty token. agents are the matching user-agent lines in file order.
func (r *Robots) getOrCompileGroup(lowerToken []byte, agents []int32) *compiledGroup {
	if c := r.groupCache.Load().get(lowerToken); c != nil {
		return c
	}
	r.compileMu.Lock()
	defer r.compileMu.Unlock()
	old := r.groupCache.Load()
	if c := old.get(lowerToken); c != nil {
		return c // Another goroutine has compiled it meanwhile.
	}
	c := r.compileGroup(agents)
	c.namesCrawler = len(lowerToken) > 0
	next := new(groupCache)
	if r.cacheWeight > r.maxCacheWeight() {
		r.matchers, r.cacheWeight = nil, 0 // This drops all compiled groups.
	} else if old != nil {
		*next = *old
	}
	if c.namesCrawler {
		next.add(string(lowerToken), c)
	} else {
		next.wildcard = c
	}
	r.groupCache.Store(next)
	return c
}

// compileGroup merges and compiles the groups of some user-agent lines. The caller must have locked
// compileMu.
func (r *Robots) compileGroup(agents []int32) *compiledGroup {
	c := &compiledGroup{robots: r, agents: agents}
	c.extensionsIgnored = r.getOrCompileMatcher(r.groupsOfAgents(agents, false))
	c.extensionsSplit = c.extensionsIgnored
	if r.hasAmbiguousGroup {
		c.extensionsSplit = r.getOrCompileMatcher(r.groupsOfAgents(agents, true))
	}
	c.delay, c.hasDelay = r.crawlDelay(agents)
	c.usages, c.signals = r.compileStatements(agents)
	c.selection = SelectedGroup{lenient: interpretation{c, c.extensionsIgnored}, strict: interpretation{c, c.extensionsSplit}}
	r.cacheWeight += 1 + len(agents)
	for _, s := range []*statements{c.usages, c.signals} {
		if s != nil {
			r.cacheWeight += len(s.lines)
		}
	}
	return c
}

// groupsOfAgents returns the groups of some user-agent lines, in file order. Groups without rules
// are left out. If extensionsSplit is true, an extension line such as Crawl-delay between
// user-agent lines begins another group, so that the lines above it have no rules.
func (r *Robots) groupsOfAgents(agents []int32, extensionsSplit bool) []int32 {
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

// getOrCompileMatcher returns the compiled rules of some groups. Crawlers with the same groups
// share a matcher. The caller must have locked compileMu.
func (r *Robots) getOrCompileMatcher(groups []int32) *matcher {
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
	r.cacheWeight += len(groups) + len(rules)
	return m
}

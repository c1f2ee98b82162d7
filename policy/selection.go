package policy

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// SelectedGroup is the result of [Robots.Select]: all groups that name a crawler, merged (RFC 9309
// section 2.2.1), in both interpretations of the file. A SelectedGroup is safe for concurrent use.
// A nil SelectedGroup means that no group applies, so everything is allowed.
type SelectedGroup struct {
	lenient, strict interpretation
}

// Select returns the group for a crawler with the given product tokens, in order of preference. The
// first token with a group decides. If no token has a group, the * group applies if obeysWildcard
// is true. Select returns nil if no group applies to the crawler.
//
// A target is disallowed only if both interpretations of the file disallow it. The lenient
// interpretation follows Google's public library. The strict interpretation ignores misspelled keys
// and lines without a colon, and an extension line such as Crawl-delay begins another group.
//
// The two differences are stored in two places. The keys make another Robots, withStrictKeys, and the
// extension lines make another matcher of each compiledGroup:
//
//	lenient: Robots,         extensionsIgnored
//	strict:  withStrictKeys, extensionsSplit
//
// [Robots.SelectWithLenientKeys] is a third combination, for crawlers that also accept misspelled
// keys: Robots with both matchers.
func (r *Robots) Select(obeysWildcard bool, tokens ...string) *SelectedGroup {
	c := r.selectCompiledGroup(obeysWildcard, tokens)
	switch {
	case c == nil:
		return nil // The strict interpretation has no additional names.
	case r.withStrictKeys == nil:
		return &c.selection
	}
	s := &SelectedGroup{lenient: interpretation{c, c.extensionsIgnored}}
	if other := r.withStrictKeys.selectCompiledGroup(obeysWildcard, tokens); other != nil {
		s.strict = interpretation{other, other.extensionsSplit}
	}
	return s
}

// SelectWithLenientKeys is [Robots.Select] for a crawler whose documentation says that it accepts
// misspelled keys and lines without a colon. Both interpretations then contain such lines. They
// still differ about extension lines between user-agent lines, because the wrong choice can
// disallow a whole site by accident.
func (r *Robots) SelectWithLenientKeys(obeysWildcard bool, tokens ...string) *SelectedGroup {
	c := r.selectCompiledGroup(obeysWildcard, tokens)
	if c == nil {
		return nil
	}
	return &c.selection
}

// selectCompiledGroup returns the group for a crawler in r, like Select, or nil.
func (r *Robots) selectCompiledGroup(obeysWildcard bool, tokens []string) *compiledGroup {
	for _, token := range tokens {
		if c := r.findNamedGroup(token); c != nil {
			return c
		}
	}
	if obeysWildcard && len(r.wildcardAgents) > 0 {
		return r.getOrCompileGroup(nil, r.wildcardAgents)
	}
	return nil
}

// NamesToken reports whether a user-agent line of the file names a product token.
func (r *Robots) NamesToken(token string) bool {
	var buf [64]byte
	for _, i := range r.candidateAgents(r.appendFolded(buf[:0], token)) {
		if NameMatches(r.agents[i].name, token) {
			return true
		}
	}
	return false
}

// candidateAgents returns the user-agent lines whose name can match a product token in lower case.
// In a file with few user-agent lines, candidateAgents returns all except *.
func (r *Robots) candidateAgents(folded []byte) []int32 {
	if r.agentsByWord == nil {
		return r.namedAgents
	}
	return r.agentsByWord[string(folded[:tokenLength(folded)])]
}

// findNamedGroup returns the compiled group of the user-agent lines that name a product token, or
// nil.
func (r *Robots) findNamedGroup(token string) *compiledGroup {
	var buf [64]byte
	folded := r.appendFolded(buf[:0], token)
	candidates := r.candidateAgents(folded)
	if len(folded) == 0 || len(candidates) == 0 {
		return nil
	}
	if c := r.groupCache.Load().get(folded); c != nil {
		return c
	}
	var agents []int32
	for _, i := range candidates {
		if NameMatches(r.agents[i].name, token) {
			agents = append(agents, i)
		}
	}
	if agents == nil {
		return nil
	}
	return r.getOrCompileGroup(folded, agents)
}

// appendFolded appends the product token in lower case to dst. If the token is longer than every
// name in the file, appendFolded appends nothing.
func (r *Robots) appendFolded(dst []byte, token string) []byte {
	if len(token) > r.longestNameLength {
		return dst
	}
	for i := range len(token) {
		dst = append(dst, lowerASCII(token[i]))
	}
	return dst
}

// FirstAgent returns the first user-agent line that names the crawler, or the first * line if the *
// group applies. The result is the zero Agent for a nil SelectedGroup.
func (s *SelectedGroup) FirstAgent() Agent {
	if s == nil {
		return Agent{}
	}
	return s.lenient.exportedAgent(s.lenient.agents[0])
}

// NamesCrawler reports whether the group names the crawler, and is not the * group.
func (s *SelectedGroup) NamesCrawler() bool { return s != nil && s.lenient.namesCrawler }

// exportedAgent returns the user-agent line with index i in Robots.agents.
func (c *compiledGroup) exportedAgent(i int32) Agent {
	a := c.robots.agents[i]
	return Agent{Name: a.name, Line: int(a.line)}
}

// maxPooledTarget is the maximum memory of a Target in targetPool, in bytes.
const maxPooledTarget = 512 << 10

var targetPool = sync.Pool{New: func() any { return new(Target) }}

// Judge returns the verdict for a request target as sent: an absolute path with an optional query,
// or the absolute form. The target is also compared with merged runs of slashes. Use
// [SelectedGroup.JudgeTarget] for a server that distinguishes /a//b from /a/b. A search that takes
// more than a few milliseconds is stopped, and the target is allowed. Only files that were written
// to be expensive cause that.
func (s *SelectedGroup) Judge(target string) Verdict {
	if s == nil {
		return Verdict{Allowed: true}
	}
	if isCanonicalTarget(target) {
		return s.judge([]variant{{text: target}})
	}
	t := targetFromPool(target, false)
	v := s.JudgeTarget(t)
	t.returnToPool()
	return v
}

// Allows returns the field Allowed of the verdict of [SelectedGroup.Judge], but faster. If
// keepSlashes is true, runs of slashes are significant. See [Target.Set].
func (s *SelectedGroup) Allows(target string, keepSlashes bool) bool {
	if s == nil {
		return true
	}
	if isCanonicalTarget(target) {
		return s.allows([]variant{{text: target}})
	}
	t := targetFromPool(target, keepSlashes)
	allowed := s.allows(t.variants())
	t.returnToPool()
	return allowed
}

// allows returns the field Allowed of the result of judge.
func (s *SelectedGroup) allows(variants []variant) bool {
	return isRobotsTxt(variants) || s.strict.allows(variants) || s.lenient != s.strict && s.lenient.allows(variants)
}

// targetFromPool returns a Target from targetPool, set to target. The caller must call
// returnToPool.
func targetFromPool(target string, keepSlashes bool) *Target {
	t := targetPool.Get().(*Target)
	t.Set(target, keepSlashes)
	return t
}

// returnToPool puts the target into targetPool, unless it is too large.
func (t *Target) returnToPool() {
	if cap(t.buf) <= maxPooledTarget {
		t.dropCallerString() // This drops the caller's string.
		targetPool.Put(t)
	}
}

// JudgeTarget returns the verdict for a target that the caller has set. It is faster than
// [SelectedGroup.Judge] for several verdicts on one target, and allows keepSlashes in [Target.Set].
func (s *SelectedGroup) JudgeTarget(t *Target) Verdict {
	if s == nil {
		return Verdict{Allowed: true}
	}
	return s.judge(t.variants())
}

// judge returns the verdict for a target with the given variants by both interpretations.
func (s *SelectedGroup) judge(variants []variant) Verdict {
	if isRobotsTxt(variants) {
		return Verdict{Allowed: true}
	}
	if s.strict == s.lenient {
		return s.strict.judge(variants)
	}
	v, other := s.strict.judge(variants), s.lenient.judge(variants)
	if v.Allowed == other.Allowed {
		return v // The rule applies to every crawler.
	}
	if other.Allowed {
		v = other
	}
	v.Ambiguous = true
	return v
}

// judge returns the verdict of one interpretation. The longest rule that matches a variant decides,
// an allow rule among equals (RFC 9309 section 2.2.2). If the search exceeds maxSteps, the target
// is allowed without a rule.
func (s *interpretation) judge(variants []variant) (v Verdict) {
	if s.compiledGroup == nil {
		v.Allowed = true
		return v
	}
	work := newSearchBudget()
	var best bestMatches
	v.Allowed, _ = s.decide(variants, 0, &work, &best)
	deciding := best.disallow
	if v.Allowed {
		deciding = best.allow
	}
	if deciding.length == 0 {
		v.Group = s.exportedAgent(s.agents[0])
	} else {
		v.Rule = s.robots.exportedRule(deciding.rule)
		v.Normalization = deciding.normalization
		v.Group = s.selectingAgent(deciding.rule)
		v.Ambiguous = !v.Allowed && deciding.normalization&ambiguousNormalizations != 0 && strings.Contains(v.Rule.Path, "*") && s.allowsOtherVariants(variants, &work)
	}
	work.release()
	if work.isExhausted() {
		return Verdict{Allowed: true, Group: s.exportedAgent(s.agents[0])}
	}
	return v
}

// allows returns the field Allowed of the result of judge.
func (s *interpretation) allows(variants []variant) bool {
	if s.compiledGroup == nil {
		return true
	}
	work := newSearchBudget()
	var best bestMatches
	allowed, _ := s.decide(variants, 0, &work, &best)
	work.release()
	return allowed || work.isExhausted()
}

// ambiguousNormalizations are the operations that only some servers apply. If a rule with a
// wildcard disallows only variants with these operations, compliant crawlers can disagree.
const ambiguousNormalizations = SlashesDecoded

// allowsOtherVariants reports whether the variants without ambiguousNormalizations are allowed.
// allowsOtherVariants returns false if there are none.
func (s *interpretation) allowsOtherVariants(variants []variant, work *searchBudget) bool {
	var best bestMatches
	allowed, compared := s.decide(variants, ambiguousNormalizations, work, &best)
	return compared && allowed
}

// selectingAgent returns the first user-agent line of the crawler in the group of a rule. If an
// extension line splits the group, a user-agent line below the split is preferred, because all
// parsers apply the rule to it.
func (s *interpretation) selectingAgent(rule int32) Agent {
	group := s.robots.rules[rule].group
	first := s.robots.firstAgentInGroup(group, s.agents)
	for i := first; s.robots.hasAmbiguousGroup && i < len(s.agents) && s.robots.agents[s.agents[i]].group == group; i++ {
		if s.agents[i] >= s.robots.groups[group].splitAt {
			return s.exportedAgent(s.agents[i]) // These agents have the rules in both interpretations.
		}
	}
	return s.exportedAgent(s.agents[first])
}

// firstAgentInGroup returns the index in agents of the first user-agent line that belongs to a
// group. agents must be in file order.
func (r *Robots) firstAgentInGroup(group int32, agents []int32) int {
	index, _ := slices.BinarySearchFunc(agents, group, func(i, group int32) int {
		return cmp.Compare(r.agents[i].group, group)
	})
	return index
}

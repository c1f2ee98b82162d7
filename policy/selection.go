package policy

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Selection is the group for a crawler: all groups that name it, merged (RFC 9309 section
// 2.2.1), in both interpretations. It is safe for concurrent use. A nil Selection means that
// no group applies and everything is allowed.
type Selection struct {
	forgiving, strict side
}

// side is a Selection in one interpretation. A nil choice means that no group applies.
type side struct {
	*choice
	rules *matcher // the choice's extensionsIgnored or extensionsSplit
}

// Select returns the group for a crawler with the given product tokens, in order of preference. The
// first token with a group decides. Without such a group, the * group applies if global is set.
// Select returns nil if no group applies to the crawler.
//
// A target is disallowed only if both interpretations of the file disallow it. The lenient
// interpretation follows Google's public library. The strict interpretation ignores misspelled keys
// and lines without a colon, and an extension line such as Crawl-delay begins another group.
func (r *Robots) Select(global bool, tokens ...string) *Selection {
	c := r.choose(global, tokens)
	switch {
	case c == nil:
		return nil // the strict interpretation has no additional names
	case r.strict == nil:
		return &c.selection
	}
	s := &Selection{forgiving: side{c, c.extensionsIgnored}}
	if other := r.strict.choose(global, tokens); other != nil {
		s.strict = side{other, other.extensionsSplit}
	}
	return s
}

// SelectForgiving is [Robots.Select] for a crawler that accepts misspelled keys and lines
// without a colon by its documentation. Both interpretations then contain these lines. They
// still differ about extension lines between user-agent lines, because one of them can
// disallow whole sites by accident.
func (r *Robots) SelectForgiving(global bool, tokens ...string) *Selection {
	c := r.choose(global, tokens)
	if c == nil {
		return nil
	}
	return &c.selection
}

// choose finds the groups for a crawler in one interpretation of the keys.
func (r *Robots) choose(global bool, tokens []string) *choice {
	for _, token := range tokens {
		if c := r.naming(token); c != nil {
			return c
		}
	}
	if global && len(r.global) > 0 {
		return r.choice(nil, r.global)
	}
	return nil
}

// Named reports whether a group of the file names the product token.
func (r *Robots) Named(token string) bool {
	var buf [64]byte
	for _, i := range r.candidates(r.fold(buf[:0], token)) {
		if NameMatches(r.agents[i].name, token) {
			return true
		}
	}
	return false
}

// candidates returns the user-agent lines whose name can match the folded token. If there are
// few lines, it returns all.
func (r *Robots) candidates(folded []byte) []int32 {
	if r.byWord == nil {
		return r.named
	}
	return r.byWord[string(folded[:wordLength(folded)])]
}

// naming returns the merged groups that name token, or nil.
func (r *Robots) naming(token string) *choice {
	var buf [64]byte
	folded := r.fold(buf[:0], token)
	candidates := r.candidates(folded)
	if len(folded) == 0 || len(candidates) == 0 {
		return nil
	}
	if c := r.choices.Load().of(folded); c != nil {
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
	return r.choice(folded, agents)
}

// fold appends the token with its ASCII letters in lower case. It appends nothing if the token is
// longer than every name.
func (r *Robots) fold(dst []byte, token string) []byte {
	if len(token) > r.longest {
		return dst
	}
	for i := range len(token) {
		dst = append(dst, lower(token[i]))
	}
	return dst
}

// Group returns the user-agent line that selected the group. For several merged groups it is
// the first. It is the zero Agent for a nil Selection.
func (s *Selection) Group() Agent {
	if s == nil {
		return Agent{}
	}
	return s.forgiving.agent(s.forgiving.agents[0])
}

// Named reports whether the group names the crawler and is not the * group.
func (s *Selection) Named() bool { return s != nil && s.forgiving.named }

func (c *choice) agent(i int32) Agent {
	a := c.robots.agents[i]
	return Agent{Name: a.name, Line: int(a.line)}
}

// maxPooledTarget is the maximum memory of a Target in the pool, in bytes.
const maxPooledTarget = 512 << 10

var targets = sync.Pool{New: func() any { return new(Target) }}

// Judge returns the verdict for a request target as sent: an absolute path with an optional
// query, or the absolute form. Runs of slashes are also compared merged. See
// [Selection.JudgeTarget] for a server that distinguishes them. A search that exceeds a few
// milliseconds is stopped and the target allowed. Only files written to be expensive cause
// that.
func (s *Selection) Judge(target string) Verdict {
	if s == nil {
		return Verdict{Allowed: true}
	}
	if isPlain(target) {
		return s.judge([]spelling{{text: target}})
	}
	t := borrowed(target)
	v := s.JudgeTarget(t)
	t.giveBack()
	return v
}

// borrowed returns a prepared target from the pool. The caller must return it.
func borrowed(target string) *Target {
	t := targets.Get().(*Target)
	t.Set(target, false)
	return t
}

func (t *Target) giveBack() {
	if cap(t.buf) <= maxPooledTarget {
		t.forget() // drop the caller's string
		targets.Put(t)
	}
}

// JudgeTarget returns the verdict for a prepared target. It is for callers that need several
// verdicts for one target or configure slashes.
func (s *Selection) JudgeTarget(t *Target) Verdict {
	if s == nil {
		return Verdict{Allowed: true}
	}
	if t.incomplete && (s.strict.hasEscapes() || s.forgiving.hasEscapes()) {
		return s.judge(t.forms())
	}
	return s.judge(t.fewForms())
}

// hasEscapes reports whether a rule may match only a query with escaped / or ?.
func (s *side) hasEscapes() bool { return s.choice != nil && s.rules.escapes }

// judge returns the verdict for a target in the given forms.
func (s *Selection) judge(spellings []spelling) Verdict {
	if isRobotsTxt(spellings) {
		return Verdict{Allowed: true}
	}
	if s.strict == s.forgiving {
		return s.strict.judge(spellings)
	}
	v, other := s.strict.judge(spellings), s.forgiving.judge(spellings)
	if v.Allowed == other.Allowed {
		return v // the rule applies to every crawler
	}
	if other.Allowed {
		v = other
	}
	v.Ambiguous = true
	return v
}

// judge returns the verdict of one interpretation. The longest matching rule over all forms
// decides, an allow rule among equals (RFC 9309 section 2.2.2). If the search exceeds
// maxSteps, the target is allowed without a rule.
func (s *side) judge(spellings []spelling) (v Verdict) {
	if s.choice == nil {
		v.Allowed = true
		return v
	}
	work := newSearch()
	var best outcome
	v.Allowed, _ = s.outcome(spellings, 0, &work, &best)
	won := best.disallow
	if v.Allowed {
		won = best.allow
	}
	if won.length == 0 {
		v.Group = s.agent(s.agents[0])
	} else {
		v.Rule = s.robots.rule(won.rule)
		v.Form = won.form
		v.Group = s.chosenBy(won.rule)
		v.Ambiguous = !v.Allowed && won.form&decodedForms != 0 && strings.Contains(v.Rule.Path, "*") && s.allowsLiteral(spellings, &work)
	}
	work.release()
	if work.isGivenUp() {
		return Verdict{Allowed: true, Group: s.agent(s.agents[0])}
	}
	return v
}

// decodedForms are forms that not every server treats as the same path. If a wildcard
// disallows only these forms, compliant crawlers can disagree.
const decodedForms = FormSlashes

// allowsLiteral reports whether the target has other forms than decodedForms and these are
// allowed.
func (s *side) allowsLiteral(spellings []spelling, work *search) bool {
	var best outcome
	allowed, compared := s.outcome(spellings, decodedForms, work, &best)
	return compared && allowed
}

// chosenBy returns the user-agent line that chose the group of a rule.
func (s *side) chosenBy(rule int32) Agent {
	group := s.robots.rules[rule].group
	at := s.robots.firstIn(group, s.agents)
	for i := at; s.robots.contested && i < len(s.agents) && s.robots.agents[s.agents[i]].group == group; i++ {
		if s.agents[i] >= s.robots.groups[group].splitAt {
			return s.agent(s.agents[i]) // these agents have the rules in both interpretations
		}
	}
	return s.agent(s.agents[at])
}

// firstIn returns the index of the first user-agent line that belongs to a group. agents must be in
// file order.
func (r *Robots) firstIn(group int32, agents []int32) int {
	at, _ := slices.BinarySearchFunc(agents, group, func(i, group int32) int {
		return cmp.Compare(r.agents[i].group, group)
	})
	return at
}

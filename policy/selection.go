package policy

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Selection is the group that a crawler has to obey: all groups of the file
// that name it, merged, as RFC 9309 section 2.2.1 demands. It may be used by
// several goroutines at once. A nil Selection is that of a crawler which no
// group is for; it allows everything.
type Selection struct {
	robots *Robots
	agents []int32  // the user-agent lines that chose the groups, in file order
	joined *matcher // extension lines join user-agent lines, as Google reads
	split  *matcher // extension lines part them; the same as joined in most files
}

// Select returns the group for a crawler that goes by the product tokens given,
// in order of preference: the first that a group names decides. If none does,
// the * group applies, provided that global is set. It returns nil if no group
// is for this crawler.
func (r *Robots) Select(global bool, tokens ...string) *Selection {
	for _, token := range tokens {
		if s := r.named(token); s != nil {
			return s
		}
	}
	if global && len(r.global) > 0 {
		return r.selection(nil, r.global)
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

// candidates returns the user-agent lines whose name starts with the same word
// as the folded token.
func (r *Robots) candidates(folded []byte) []int32 {
	return r.byWord[string(folded[:wordLength(folded)])]
}

// named returns the merged groups that name token, nil if there is none.
func (r *Robots) named(token string) *Selection {
	var buf [64]byte
	folded := r.fold(buf[:0], token)
	candidates := r.candidates(folded)
	if len(folded) == 0 || len(candidates) == 0 {
		return nil
	}
	if s := r.selections.Load().of(folded); s != nil {
		return s
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
	return r.selection(folded, agents)
}

// fold appends the token with its ASCII letters in lower case; nothing if it
// is longer than every name.
func (r *Robots) fold(dst []byte, token string) []byte {
	if len(token) > r.longest {
		return dst
	}
	for i := range len(token) {
		dst = append(dst, lower(token[i]))
	}
	return dst
}

// Group returns the user-agent line that chose the group, the first where
// several groups are merged. It is the zero Agent for a nil Selection.
func (s *Selection) Group() Agent {
	if s == nil {
		return Agent{}
	}
	return s.agent(s.agents[0])
}

func (s *Selection) agent(i int32) Agent {
	a := s.robots.agents[i]
	return Agent{Name: a.name, Line: int(a.line)}
}

// maxPooledTarget bounds the memory that a Target may keep in the pool, in
// bytes.
const maxPooledTarget = 512 << 10

var targets = sync.Pool{New: func() any { return new(Target) }}

// Judge judges a request target as sent: an absolute path with an optional
// query, or the absolute form. Runs of slashes are also compared merged; see
// [Selection.JudgeTarget] for a server that keeps them apart.
func (s *Selection) Judge(target string) Verdict {
	if s == nil {
		return Verdict{Allowed: true}
	}
	if isPlain(target) {
		return s.judge([]spelling{spelled(target, 0)})
	}
	t := targets.Get().(*Target)
	t.Set(target, false)
	v := s.JudgeTarget(t)
	if cap(t.buf) <= maxPooledTarget {
		clear(t.spellings[:t.count]) // the caller's string
		targets.Put(t)
	}
	return v
}

// JudgeTarget judges a prepared target. It is for callers who judge one target
// by several groups or choose how slashes count.
func (s *Selection) JudgeTarget(t *Target) Verdict {
	if s == nil {
		return Verdict{Allowed: true}
	}
	return s.judge(t.spellings[:t.count])
}

// judge judges a target in the forms given.
func (s *Selection) judge(spellings []spelling) Verdict {
	if len(spellings) == 0 || isRobotsTxt(spellings[0].text) {
		return Verdict{Allowed: true}
	}
	if s.split == s.joined {
		return s.read(s.joined, spellings)
	}
	v, other := s.read(s.joined, spellings), s.read(s.split, spellings)
	if v.Allowed == other.Allowed {
		return v
	}
	if other.Allowed {
		v = other
	}
	v.Ambiguous = true
	return v
}

// read judges by one reading of the grouping. The longest matching rule over
// all forms of the target decides, an allow rule among equals (RFC 9309
// section 2.2.2).
func (s *Selection) read(m *matcher, spellings []spelling) Verdict {
	var best outcome
	literal := false // allowed if escaped slashes are no slashes
	var found *candidates
	if m.wildcards.indexed() {
		found = m.wildcards.find(spellings)
	}
	for i := range spellings {
		x := &spellings[i]
		m.match(x.text, x.form, found, &best)
		if x.form&FormSlashes == 0 {
			literal = best.allowed()
		}
	}
	found.release()
	v := Verdict{Allowed: best.allowed()}
	won := best.disallow
	if v.Allowed {
		won = best.allow
	}
	if won.length == 0 {
		v.Group = s.Group()
		return v
	}
	v.Rule = s.robots.rule(won.rule)
	v.Form = won.form
	v.Group = s.chosenBy(won.rule)
	v.Ambiguous = !v.Allowed && literal && won.form&FormSlashes != 0 && strings.Contains(v.Rule.Path, "*")
	return v
}

// chosenBy returns the user-agent line that chose the group of a rule.
func (s *Selection) chosenBy(rule int32) Agent {
	group := s.robots.rules[rule].group
	at, _ := slices.BinarySearchFunc(s.agents, group, func(i, group int32) int {
		return cmp.Compare(s.robots.agents[i].group, group)
	})
	return s.agent(s.agents[at])
}

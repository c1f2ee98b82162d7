package policy

import (
	"sync"
	"sync/atomic"
)

// Robots is a parsed robots.txt. A Robots is immutable and safe for concurrent use. Its strings
// share the memory of one copy of the file.
//
// The methods use the lenient interpretation. Only [Robots.Select] and
// [Robots.SelectWithLenientKeys] also use the strict interpretation.
type Robots struct {
	// withStrictKeys is the file without lines that have a misspelled key or no colon; nil if these
	// lines make no difference.
	withStrictKeys *Robots

	text               string   // text is the parsed part of the file.
	rules              []rule   // The rules are in file order.
	agents             []agent  // agents are the user-agent lines in file order.
	groups             []group  // The groups are in file order.
	records            []Record // The records are in file order.
	contentUsages      []contentUsage
	contentSignals     []int32 // These are the records with Content-Signal lines of a group.
	delays             []delayLine
	sitemaps           []string // sitemaps are paths, sorted.
	findings           []Finding
	unreportedFindings int  // unreportedFindings is the number of findings beyond maxFindings.
	hasAmbiguousGroup  bool // hasAmbiguousGroup is true if an extension line splits some group.

	// agentsByWord has the agents by the folded first word of their name. It is nil if there are few
	// agents.
	agentsByWord   map[string][]int32
	namedAgents    []int32 // If there are few agents, these are the agents whose name is not *.
	wildcardAgents []int32 // These are the agents whose name is *.

	trainingAgents []int32 // These are the agents whose name is TrainingToken. The fields agentsByWord, namedAgents and wildcardAgents do not have them.

	longestNameLength int // This is the length of the longest name in bytes.

	groupCache  atomic.Pointer[groupCache]
	compileMu   sync.Mutex          // This mutex is locked while groupCache is replaced. It guards the fields below.
	matchers    map[string]*matcher // The key consists of the compiled groups.
	cacheWeight int                 // cacheWeight is the weight of groupCache and matchers. maxCacheWeight limits it.

	compressOnce sync.Once
	compressed   []byte // compressed is the result of CompressedText, or nil before the first call.
}

// rule is an allow or disallow line.
type rule struct {
	path  string // path is the path as written, trimmed.
	line  int32
	group int32
	allow bool
}

// agent is a user-agent line.
type agent struct {
	name  string // name is the name as written, trimmed.
	line  int32
	group int32
}

// group is a run of user-agent lines and the rules below them, as ranges of Robots.agents and
// Robots.rules.
//
// Parsers differ about an extension line, such as Crawl-delay, between two user-agent lines. In
// Google's parser, the rules apply to all user-agent lines of the group. In other parsers, the line
// begins another group, so that the user-agent lines before splitAt have no rules. In a group
// without such a line splitAt equals agentFrom.
type group struct {
	agentFrom, splitAt, agentTo int32
	ruleFrom, ruleTo            int32
}

// contentUsage is a Content-Usage line, as an index into Robots.records, and the user-agent lines
// that it applies to, as a range of Robots.agents. By draft-ietf-aipref-attach-05 section 3 a
// Content-Usage line is a rule, so a user-agent line below it begins another group. For allow and
// disallow lines, that user-agent line belongs to the same group, because older parsers ignore
// Content-Usage.
type contentUsage struct{ record, agentFrom, agentTo int32 }

// Rule is an allow or disallow line of a robots.txt.
type Rule struct {
	Allow bool   // Allow is false for a disallow line.
	Path  string // Path is the pattern as written, without surrounding white space.
	Line  int    // Line is counted from 1. It is 0 in the zero Rule, which means no rule.
}

// String returns the rule as a line of a robots.txt, or "" for the zero Rule.
func (r Rule) String() string {
	switch {
	case r.Line == 0:
		return ""
	case r.Allow:
		return "Allow: " + r.Path
	}
	return "Disallow: " + r.Path
}

// Agent is a user-agent line of a robots.txt.
type Agent struct {
	Name string // Name is the name as written, without surrounding white space.
	Line int    // Line is counted from 1.
}

// Group is a group of a robots.txt as written: consecutive user-agent lines, and the rules below
// them.
type Group struct {
	Agents []Agent // The agents are in file order.
	Rules  []Rule  // The rules are in file order. A group without rules allows everything.
	// Ambiguous reports that an extension line such as Crawl-delay separates the user-agent
	// lines, so that crawlers disagree about the group.
	Ambiguous bool
}

// Record is a line that is neither a user-agent line nor a rule, but has a key that some crawlers
// know: Sitemap, Crawl-delay, Request-rate, Visit-time, Host, Clean-param, Noindex, Content-Signal,
// Content-Usage, License and others. Records never affect a verdict.
type Record struct {
	Key   string // Key is the key as written.
	Value string // Value is the value as written, without surrounding white space.
	Line  int    // Line is counted from 1.
	Group int    // Group is the index into Groups. It is -1 for a line about the whole file.
}

// Text returns the part of the file that was parsed: whole lines, at most [MaxSize] bytes. The
// result is empty for a file in UTF-16.
func (r *Robots) Text() string { return r.text }

// RuleCount returns the number of allow and disallow lines in groups, including lines without a
// path.
func (r *Robots) RuleCount() int { return len(r.rules) }

// Groups returns the groups in file order.
func (r *Robots) Groups() []Group {
	groups := make([]Group, len(r.groups))
	for i, g := range r.groups {
		groups[i].Agents = r.agentsInRange(g.agentFrom, g.agentTo)
		for j := g.ruleFrom; j < g.ruleTo; j++ {
			groups[i].Rules = append(groups[i].Rules, r.exportedRule(j))
		}
		groups[i].Ambiguous = g.splitAt > g.agentFrom
	}
	return groups
}

// agentsInRange returns the user-agent lines with indices from to to-1, or nil for an empty range.
func (r *Robots) agentsInRange(from, to int32) (lines []Agent) {
	for _, a := range r.agents[from:to] {
		lines = append(lines, Agent{a.name, int(a.line)})
	}
	return lines
}

// ContentUsageAgents returns the user-agent lines that each Content-Usage line applies to, by the
// number of the Content-Usage line. They can be fewer than those of its [Group]: a user-agent line
// below a Content-Usage line begins another group for Content-Usage only
// (draft-ietf-aipref-attach-05 section 3), because older parsers ignore Content-Usage.
func (r *Robots) ContentUsageAgents() map[int][]Agent {
	agentsByLine := make(map[int][]Agent, len(r.contentUsages))
	var previous contentUsage
	var agents []Agent // Many lines share this slice.
	for _, u := range r.contentUsages {
		if u.agentFrom != previous.agentFrom || u.agentTo != previous.agentTo {
			previous, agents = u, r.agentsInRange(u.agentFrom, u.agentTo)
		}
		agentsByLine[r.records[u.record].Line] = agents
	}
	return agentsByLine
}

// GroupNames returns the names in all user-agent lines, as written, in file order and with
// repetitions. The result can contain *, but not [TrainingToken].
func (r *Robots) GroupNames() []string {
	names := make([]string, 0, len(r.agents))
	for _, a := range r.agents {
		if !IsTraining(a.name) {
			names = append(names, a.name)
		}
	}
	return names
}

// Records returns the records of the file, such as Sitemap lines, in file order. The caller must
// not modify the result.
func (r *Robots) Records() []Record { return r.records }

// Findings returns the problems that Parse found, in file order. unreported is the number of
// further problems, which are counted only.
func (r *Robots) Findings() (findings []Finding, unreported int) {
	return r.findings, r.unreportedFindings
}

// Size returns an estimate of the memory of the file and its compiled groups, in bytes. Cache uses
// it for [Bounds].
func (r *Robots) Size() int {
	const (
		perRule    = 32 + 140 // This is for the line and its share of a compiled group.
		perAgent   = 24 + 90  // This is for the line and its share of the tables of names.
		perRecord  = 56
		perUsage   = 12 + 900 // This is for the line and its share of compiled groups.
		perDelay   = 24
		perSitemap = 80
		perFinding = 160
		perFile    = 1024
	)
	compressed := len(r.text) // This is for a file that is stored. A text without repetitions does not shrink.
	size := perFile + len(r.text) + compressed + perRule*len(r.rules) + perAgent*len(r.agents) +
		perRecord*len(r.records) + perUsage*(len(r.contentUsages)+len(r.contentSignals)) + perDelay*len(r.delays) + perSitemap*len(r.sitemaps) + perFinding*len(r.findings)
	if r.withStrictKeys != nil {
		size += r.withStrictKeys.Size() - len(r.text) - compressed // Both share the text.
	}
	return size
}

// exportedRule returns the rule with index i in Robots.rules.
func (r *Robots) exportedRule(i int32) Rule {
	x := r.rules[i]
	return Rule{Allow: x.allow, Path: x.path, Line: int(x.line)}
}

// maxUnindexedNames is the maximum number of user-agent lines that are compared without an index.
const maxUnindexedNames = 8

// buildAgentIndex fills the tables from which Select finds the user-agent lines of a crawler.
func (r *Robots) buildAgentIndex() {
	hasFewNames := len(r.agents) <= maxUnindexedNames
	if hasFewNames {
		r.namedAgents = make([]int32, 0, len(r.agents))
	} else {
		r.agentsByWord = make(map[string][]int32, len(r.agents))
	}
	for i, a := range r.agents {
		r.longestNameLength = max(r.longestNameLength, len(a.name))
		switch {
		case isWildcardName(a.name):
			r.wildcardAgents = append(r.wildcardAgents, int32(i))
		case IsTraining(a.name):
			r.trainingAgents = append(r.trainingAgents, int32(i))
		case hasFewNames:
			r.namedAgents = append(r.namedAgents, int32(i))
		case a.name != "":
			word := toLowerASCII(a.name[:tokenLength(a.name)])
			r.agentsByWord[word] = append(r.agentsByWord[word], int32(i))
		}
	}
}

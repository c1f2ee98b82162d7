package diff

import (
	"cmp"
	"slices"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Pair is a robots.txt before and after an edit.
type Pair struct {
	Old, New *policy.Robots
}

// Overlay returns the crawler names defined only in the two files. Callers identify clients with
// the overlay.
func (p Pair) Overlay() *uaident.Overlay {
	return uaident.Default().NewOverlay(append(p.Old.Names(), p.New.Names()...))
}

// selectedGroup is the group of a client, or nil.
type selectedGroup struct {
	*policy.SelectedGroup
	named bool // the group names the client
}

// groupFor returns the default group of a client. A configuration can change which clients the *
// group applies to.
func groupFor(client uaident.Identity, robots *policy.Robots) selectedGroup {
	subject := (&judge.Request{Client: client}).GroupQuery(nil, client.WildcardApplies())
	group, named, applies := subject.Group(robots)
	if !applies {
		group = nil
	}
	return selectedGroup{group, named}
}

// equal reports whether the same rules of one file apply to two clients.
func (b selectedGroup) equal(other selectedGroup) bool {
	return b.named == other.named && b.Equal(other.SelectedGroup)
}

// pathJudge is the state of a client with several requested paths.
type pathJudge struct {
	request judge.Request
	robots  *policy.Robots
	scratch judge.Scratch
	result  judge.Result
}

func newPathJudge(client uaident.Identity, robots *policy.Robots) *pathJudge {
	return &pathJudge{request: judge.Request{Client: client, GroupCache: new(judge.GroupCache)}, robots: robots}
}

// judge returns the verdict for a path and the decisive rule.
func (a *pathJudge) judge(path string) (allowed bool, rule policy.Rule) {
	a.request.Target = path
	new(judge.Settings).Judge(&a.request, judge.Rules{Robots: a.robots}, &a.scratch, &a.result)
	return a.result.Verdict != judge.Disallowed, a.result.RobotsVerdict.Rule
}

// Result describes the effects of an edit.
type Result struct {
	RulesAdded   int      `json:"rules_added"`   // lines, each with the names of its group
	RulesRemoved int      `json:"rules_removed"` // lines, each with the names of its group
	Changes      []Change `json:"changes"`       // changes for search engines come first
}

// Change is a change for crawlers with the same groups before and after the edit.
type Change struct {
	Crawlers        []Crawlers `json:"crawlers"`
	OldGroup        string     `json:"old_group"` // the name that selected the group; empty for no group
	NewGroup        string     `json:"new_group"`
	Added           []string   `json:"added"`   // new rules for these crawlers
	Removed         []string   `json:"removed"` // former rules for these crawlers
	NewlyDisallowed []Example  `json:"blocked"` // URLs that become disallowed
	NewlyAllowed    []Example  `json:"opened"`  // URLs that become allowed
}

// Crawlers are crawlers of one class.
type Crawlers struct {
	Class string   `json:"class"`
	Names []string `json:"names"`
}

// Example is a URL whose verdict changes.
type Example struct {
	URL     string `json:"url"`      // path and query
	OldRule string `json:"old_rule"` // the decisive rule; empty for none
	OldLine int    `json:"old_line"`
	NewRule string `json:"new_rule"`
	NewLine int    `json:"new_line"`
}

// DisallowsNewURL reports whether a URL becomes disallowed for any crawler.
func (r *Result) DisallowsNewURL() bool {
	return slices.ContainsFunc(r.Changes, func(c Change) bool { return len(c.NewlyDisallowed) > 0 })
}

// ShutsOutSearch reports whether an edit disallows / or a URL of the result for a search engine.
func (p Pair) ShutsOutSearch(r *Result) bool {
	served := judge.SearchTraffic{Engines: judge.SearchEngines()}
	for _, c := range r.Changes {
		for _, crawlers := range c.Crawlers {
			if crawlers.Class != uaident.Search.String() {
				continue
			}
			for _, name := range crawlers.Names {
				for _, e := range c.NewlyDisallowed {
					served.Pages = append(served.Pages, judge.NewServedPage(uaident.Default().Lookup(name), e.URL))
				}
			}
		}
	}
	out := judge.FindShutOut(p.Old, p.New, served)
	return !out.IsEmpty()
}

// These bounds limit the work on hostile files.
const (
	maxNames    = 500    // names that only the files define
	maxChanges  = 200    // compared pairs of groups
	maxRules    = 20     // reported rules per change
	maxExamples = 10     // reported URLs per change and direction
	maxTries    = 60_000 // candidate URLs per change
	maxWork     = 50e6   // states in the search for URLs, for all changes
)

// Compare returns the effects of the edit on crawlers in the registry and on crawlers named only in
// the files.
func (p Pair) Compare() *Result {
	r := &Result{Changes: []Change{}}
	r.RulesAdded, r.RulesRemoved = countAdded(p.Old, p.New), countAdded(p.New, p.Old)
	type groups struct{ before, after selectedGroup }
	byGroups := make(map[groups][]uaident.Identity)
	var order []groups
	for _, id := range p.crawlers() {
		g := groups{groupFor(id, p.Old), groupFor(id, p.New)}
		// Crawlers in the same user-agent lines obey the same rules.
		for _, known := range order {
			if known.before.equal(g.before) && known.after.equal(g.after) {
				g = known
				break
			}
		}
		if byGroups[g] == nil {
			if len(order) == maxChanges {
				continue
			}
			order = append(order, g)
		}
		byGroups[g] = append(byGroups[g], id)
	}
	for _, g := range order {
		if c, ok := p.compare(byGroups[g][0], g.before, g.after, maxWork/len(order)); ok {
			c.Crawlers = groupByClass(byGroups[g])
			r.Changes = append(r.Changes, c)
		}
	}
	slices.SortStableFunc(r.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(classRank(a.Crawlers[0].Class), classRank(b.Crawlers[0].Class)),
			-cmp.Compare(min(len(a.NewlyDisallowed), 1), min(len(b.NewlyDisallowed), 1)))
	})
	return r
}

// compare returns the change for crawlers with the given groups. client is an example of the
// crawlers.
func (p Pair) compare(client uaident.Identity, before, after selectedGroup, work int) (c Change, ok bool) {
	old, now := rulesOfInterpretations(before.SelectedGroup), rulesOfInterpretations(after.SelectedGroup)
	added, removed := missingRules(now, old), missingRules(old, now)
	changes := append(slices.Clone(added), removed...)
	if before.Ambiguous() || after.Ambiguous() {
		changes = append(slices.Clone(old), now...) // a rule may now apply to another interpretation
	}
	if len(changes) == 0 {
		return c, false
	}
	c = Change{
		OldGroup: before.FirstAgent().Name, NewGroup: after.FirstAgent().Name,
		Added: ruleTexts(added), Removed: ruleTexts(removed), NewlyDisallowed: []Example{}, NewlyAllowed: []Example{},
	}
	type cause struct{ old, new policy.Rule }
	reported := make(map[cause]bool)
	tries := 0
	oldJudge, newJudge := newPathJudge(client, p.Old), newPathJudge(client, p.New)
	for path := range candidateURLs(old, now, changes, work) {
		if tries++; tries > maxTries {
			break
		}
		allowed, rule := oldJudge.judge(path)
		newAllowed, newRule := newJudge.judge(path)
		change := cause{rule, newRule}
		if allowed == newAllowed || reported[change] {
			continue
		}
		reported[change] = true
		e := Example{path, rule.String(), rule.Line, newRule.String(), newRule.Line}
		if newAllowed {
			c.NewlyAllowed = append(c.NewlyAllowed, e)
		} else {
			c.NewlyDisallowed = append(c.NewlyDisallowed, e)
		}
	}
	for _, list := range []*[]Example{&c.NewlyDisallowed, &c.NewlyAllowed} {
		slices.SortStableFunc(*list, func(a, b Example) int { return cmp.Compare(len(a.URL), len(b.URL)) })
		*list = slices.Clip((*list)[:min(len(*list), maxExamples)])
	}
	return c, len(c.NewlyDisallowed)+len(c.NewlyAllowed) > 0
}

package diff

import (
	"cmp"
	"slices"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Edit has the versions of a robots.txt before and after an edit.
type Edit struct {
	Old, New *policy.Robots
}

// Overlay returns the crawler names that only the two files define. Callers need the overlay to
// identify clients.
func (p Edit) Overlay() *uaident.Overlay {
	return uaident.Default().NewOverlay(append(p.Old.GroupNames(), p.New.GroupNames()...))
}

// selectedGroup is the group of a file that applies to a client. The embedded pointer is nil if
// none applies.
type selectedGroup struct {
	*policy.SelectedGroup
	namesClient bool // namesClient is true if the group names the client.
}

// groupFor returns the group that applies to a client by default. A configuration can change to
// which clients the * group applies.
func groupFor(client uaident.Identity, robots *policy.Robots) selectedGroup {
	subject := (&judge.Request{Client: client}).GroupQuery(nil, client.WildcardApplies())
	group, named, applies := subject.Group(robots)
	if !applies {
		group = nil
	}
	return selectedGroup{group, named}
}

// equal reports whether both values select the same group of one file.
func (b selectedGroup) equal(other selectedGroup) bool {
	return b.namesClient == other.namesClient && b.Equal(other.SelectedGroup)
}

// pathJudge judges requests of one client for many paths.
type pathJudge struct {
	request judge.Request
	robots  *policy.Robots
	scratch judge.Scratch
	result  judge.Result
}

func newPathJudge(client uaident.Identity, robots *policy.Robots) *pathJudge {
	return &pathJudge{request: judge.Request{Client: client, GroupCache: new(judge.GroupCache)}, robots: robots}
}

// judge returns whether the client may fetch a path, and the decisive rule.
func (a *pathJudge) judge(path string) (allowed bool, rule policy.Rule) {
	a.request.Target = path
	new(judge.Settings).Judge(&a.request, judge.Rules{Robots: a.robots}, &a.scratch, &a.result)
	return a.result.Verdict != judge.Disallowed, a.result.RobotsVerdict.Rule
}

// Result describes the effects of an edit of a robots.txt.
type Result struct {
	// RulesAdded is the number of rules in the new file that no group with the same names has in
	// the old file.
	RulesAdded int `json:"rules_added"`
	// RulesRemoved is the number of rules in the old file that no group with the same names has in
	// the new file.
	RulesRemoved int      `json:"rules_removed"`
	Changes      []Change `json:"changes"` // Changes has the changes for search engines first.
}

// Change describes how an edit changes the rules for some crawlers. All of them are subject to the
// same group before the edit, and to the same group after it.
type Change struct {
	Crawlers []ClassCrawlers `json:"crawlers"`
	// OldGroup is the name that selected the group, or empty for no group.
	OldGroup        string       `json:"old_group"`
	NewGroup        string       `json:"new_group"`
	Added           []string     `json:"added"`   // Added has the new rules for these crawlers.
	Removed         []string     `json:"removed"` // Removed has the former rules for these crawlers.
	NewlyDisallowed []ExampleURL `json:"blocked"` // NewlyDisallowed has URLs that become disallowed.
	NewlyAllowed    []ExampleURL `json:"opened"`  // NewlyAllowed has URLs that become allowed.
}

// ClassCrawlers has the names of the affected crawlers of one class.
type ClassCrawlers struct {
	Class string   `json:"class"`
	Names []string `json:"names"`
}

// ExampleURL is a URL whose verdict changes, with the decisive rules before and after the edit.
type ExampleURL struct {
	URL     string `json:"url"`      // URL is the path and query of the URL.
	OldRule string `json:"old_rule"` // OldRule is the decisive rule, or empty if there is none.
	OldLine int    `json:"old_line"`
	NewRule string `json:"new_rule"`
	NewLine int    `json:"new_line"`
}

// DisallowsNewURL reports whether the edit disallows an allowed URL for any crawler.
func (r *Result) DisallowsNewURL() bool {
	return slices.ContainsFunc(r.Changes, func(c Change) bool { return len(c.NewlyDisallowed) > 0 })
}

// ShutsOutSearch reports whether the edit disallows / or an example URL of the result for a search
// engine.
func (p Edit) ShutsOutSearch(r *Result) bool {
	served := judge.ProtectedSearchTraffic{Engines: judge.SearchEngines()}
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
	maxUnregisteredNames = 500    // maxUnregisteredNames limits the names that only the files define.
	maxGroupPairs        = 200    // maxGroupPairs is the maximum number of compared pairs of groups.
	maxRules             = 20     // maxRules is the maximum number of reported rules per change.
	maxExamples          = 10     // maxExamples is the maximum number of reported URLs per change and direction.
	maxCandidateURLs     = 60_000 // maxCandidateURLs is the maximum number of compared URLs per change.
	maxSearchStates      = 50e6   // maxSearchStates limits the states in the search for URLs, for all changes.
)

// Compare returns the effects of the edit on the crawlers in the registry, and on other crawlers
// that the files name.
func (p Edit) Compare() *Result {
	r := &Result{Changes: []Change{}}
	r.RulesAdded, r.RulesRemoved = countAddedRules(p.Old, p.New), countAddedRules(p.New, p.Old)
	type groups struct{ before, after selectedGroup }
	byGroups := make(map[groups][]uaident.Identity)
	var order []groups
	for _, id := range p.listCrawlers() {
		g := groups{groupFor(id, p.Old), groupFor(id, p.New)}
		// Crawlers in the same user-agent lines obey the same rules.
		for _, known := range order {
			if known.before.equal(g.before) && known.after.equal(g.after) {
				g = known
				break
			}
		}
		if byGroups[g] == nil {
			if len(order) == maxGroupPairs {
				continue
			}
			order = append(order, g)
		}
		byGroups[g] = append(byGroups[g], id)
	}
	for _, g := range order {
		if c, ok := p.compareGroups(byGroups[g][0], g.before, g.after, maxSearchStates/len(order)); ok {
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

// compareGroups returns the change for the crawlers with these groups. client is one of the
// crawlers. ok is false if no verdict changes.
func (p Edit) compareGroups(client uaident.Identity, before, after selectedGroup, work int) (c Change, ok bool) {
	old, now := rulesOfInterpretations(before.SelectedGroup), rulesOfInterpretations(after.SelectedGroup)
	added, removed := missingRules(now, old), missingRules(old, now)
	changes := append(slices.Clone(added), removed...)
	if before.IsAmbiguous() || after.IsAmbiguous() {
		changes = append(slices.Clone(old), now...) // A rule may now apply to another interpretation.
	}
	if len(changes) == 0 {
		return c, false
	}
	c = Change{
		OldGroup: before.FirstAgent().Name, NewGroup: after.FirstAgent().Name,
		Added: formatRules(added), Removed: formatRules(removed), NewlyDisallowed: []ExampleURL{}, NewlyAllowed: []ExampleURL{},
	}
	type cause struct{ old, new policy.Rule }
	reported := make(map[cause]bool)
	tries := 0
	oldJudge, newJudge := newPathJudge(client, p.Old), newPathJudge(client, p.New)
	for path := range candidateURLs(old, now, changes, work) {
		if tries++; tries > maxCandidateURLs {
			break
		}
		allowed, rule := oldJudge.judge(path)
		newAllowed, newRule := newJudge.judge(path)
		change := cause{rule, newRule}
		if allowed == newAllowed || reported[change] {
			continue
		}
		reported[change] = true
		e := ExampleURL{path, rule.String(), rule.Line, newRule.String(), newRule.Line}
		if newAllowed {
			c.NewlyAllowed = append(c.NewlyAllowed, e)
		} else {
			c.NewlyDisallowed = append(c.NewlyDisallowed, e)
		}
	}
	for _, list := range []*[]ExampleURL{&c.NewlyDisallowed, &c.NewlyAllowed} {
		slices.SortStableFunc(*list, func(a, b ExampleURL) int { return cmp.Compare(len(a.URL), len(b.URL)) })
		*list = slices.Clip((*list)[:min(len(*list), maxExamples)])
	}
	return c, len(c.NewlyDisallowed)+len(c.NewlyAllowed) > 0
}

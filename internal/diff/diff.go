package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Pair is a robots.txt before and after an edit.
type Pair struct {
	Old, New *policy.Robots
}

// Overlay returns the names that only the two files know, for identifying the
// client that [Pair.Judge] is asked about.
func (p Pair) Overlay() *uaident.Overlay {
	return uaident.Default().Overlay(append(p.Old.Names(), p.New.Names()...))
}

// Judge judges a request target by both files. Clients that are not judged, such
// as browsers, may fetch everything.
func (p Pair) Judge(client uaident.Identity, target string) (before, after policy.Verdict) {
	if client.Class == uaident.Browser {
		return policy.Verdict{Allowed: true}, policy.Verdict{Allowed: true}
	}
	who := claimOf(client)
	return binding(who, p.Old).judge(target), binding(who, p.New).judge(target)
}

// claimOf returns the claim of a client by what is known of it; a configuration
// may say otherwise about the * group.
func claimOf(id uaident.Identity) judge.Claim {
	return judge.Claim{Chain: id.AppendChain(nil), Wildcard: id.Wildcard(), Forgiving: id.Forgiving()}
}

// bound is the group whose rules hold for a client, nil if none do.
type bound struct {
	*policy.Selection
	named bool // the group names the client
}

// binding returns the group whose rules hold for the client.
func binding(who judge.Claim, robots *policy.Robots) bound {
	group, named, exempt := who.Group(robots)
	if exempt {
		group = nil
	}
	return bound{group, named}
}

// equal reports whether two clients are bound by the same rules of one file.
func (b bound) equal(other bound) bool {
	return b.named == other.named && b.Equal(other.Selection)
}

// judge judges a target that somebody wants to GET.
func (b bound) judge(target string) policy.Verdict {
	if !b.named && (judge.Request{Target: target}).Spared() != judge.NotSpared {
		return policy.Verdict{Allowed: true}
	}
	return b.Judge(target)
}

// Result is what an edit changes.
type Result struct {
	RulesAdded   int      `json:"rules_added"`   // lines, each for the names of its group
	RulesRemoved int      `json:"rules_removed"` // likewise
	Changes      []Change `json:"changes"`       // those with search engines first
}

// Change is what changes for crawlers that have the same groups before and
// after.
type Change struct {
	Crawlers []Crawlers `json:"crawlers"`
	OldGroup string     `json:"old_group"` // the name that chose the group, "" if none holds for them
	NewGroup string     `json:"new_group"`
	Added    []string   `json:"added"`   // rules that hold for them now
	Removed  []string   `json:"removed"` // rules that did
	Blocked  []Example  `json:"blocked"` // URLs that they may fetch no more
	Opened   []Example  `json:"opened"`  // URLs that they may fetch now
}

// Crawlers are crawlers of one class.
type Crawlers struct {
	Class string   `json:"class"`
	Names []string `json:"names"`
}

// Example is a URL whose verdict changes.
type Example struct {
	URL     string `json:"url"`      // path and query
	OldRule string `json:"old_rule"` // that decided, "" for none
	OldLine int    `json:"old_line"`
	NewRule string `json:"new_rule"`
	NewLine int    `json:"new_line"`
}

// Blocks reports whether a crawler of the class may fetch less than before; of
// any class if that is "".
func (r *Result) Blocks(class string) bool {
	return slices.ContainsFunc(r.Changes, func(c Change) bool {
		return len(c.Blocked) > 0 && (class == "" || slices.ContainsFunc(c.Crawlers, func(of Crawlers) bool { return of.Class == class }))
	})
}

// Bounds of the work on hostile files.
const (
	maxNames    = 500    // names that only the files know
	maxChanges  = 200    // pairs of groups that are compared
	maxRules    = 20     // rules told of a change
	maxExamples = 10     // URLs told of a change in each direction
	maxTries    = 60_000 // URLs that are tried for a change
	maxWork     = 50e6   // states of the search for URLs, for all changes
)

// Compare tells what the edit changes for the crawlers in the registry and for
// those that only the files name.
func (p Pair) Compare() *Result {
	r := &Result{Changes: []Change{}}
	r.RulesAdded, r.RulesRemoved = countNew(p.Old, p.New), countNew(p.New, p.Old)
	type groups struct{ before, after bound }
	byGroups := make(map[groups][]uaident.Identity)
	var order []groups
	for _, id := range p.audience() {
		who := claimOf(id)
		g := groups{binding(who, p.Old), binding(who, p.New)}
		// Crawlers that are named in the same lines obey the same rules.
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
		if c, ok := compare(g.before, g.after, maxWork/len(order)); ok {
			c.Crawlers = byClass(byGroups[g])
			r.Changes = append(r.Changes, c)
		}
	}
	slices.SortStableFunc(r.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(Rank(a.Crawlers[0].Class), Rank(b.Crawlers[0].Class)),
			-cmp.Compare(min(len(a.Blocked), 1), min(len(b.Blocked), 1)))
	})
	return r
}

// audience returns whom the files may be about.
func (p Pair) audience() []uaident.Identity {
	var all []uaident.Identity
	registry := uaident.Default()
	for i, c := range registry.Crawlers() {
		if !c.RobotsOnly {
			all = append(all, uaident.Identity{Token: c.Token, Crawler: &registry.Crawlers()[i], Class: c.Class})
		}
	}
	names, overlay := append(p.Old.Names(), p.New.Names()...), p.Overlay()
	seen := make(map[string]bool)
	for _, name := range names {
		name, _, _ = strings.Cut(name, "/")
		name = strings.TrimRight(name, "* ")
		folded := strings.ToLower(name)
		if name == "" || len(seen) == maxNames || seen[folded] || registry.Lookup(name) != nil {
			continue
		}
		seen[folded] = true
		if id := registry.IdentifyWith(name+"/1.0", overlay); id.Crawler == nil && id.Class != uaident.Browser {
			all = append(all, id)
		}
	}
	return all
}

// rulesOf returns the rules that hold in either reading, in file order.
func rulesOf(s *policy.Selection) []policy.Rule {
	forgiving, strict := s.Readings()
	rules := append(forgiving.Rules(), strict.Rules()...)
	slices.SortStableFunc(rules, func(a, b policy.Rule) int { return cmp.Compare(a.Line, b.Line) })
	return slices.Compact(rules)
}

// compare tells what changes for crawlers of which these groups hold.
func compare(before, after bound, work int) (c Change, ok bool) {
	old, now := rulesOf(before.Selection), rulesOf(after.Selection)
	added, removed := changed(old, now)
	changes := append(slices.Clone(added), removed...)
	if before.Ambiguous() || after.Ambiguous() {
		changes = append(slices.Clone(old), now...) // the same rule may hold for more readers
	}
	if len(changes) == 0 {
		return c, false
	}
	c = Change{
		OldGroup: before.Group().Name, NewGroup: after.Group().Name,
		Added: texts(added), Removed: texts(removed), Blocked: []Example{}, Opened: []Example{},
	}
	type cause struct{ old, new policy.Rule }
	told := make(map[cause]bool)
	tries := 0
	for path := range witnesses(old, now, changes, work) {
		if tries++; tries > maxTries {
			break
		}
		was, is := before.judge(path), after.judge(path)
		why := cause{was.Rule, is.Rule}
		if was.Allowed == is.Allowed || told[why] {
			continue
		}
		told[why] = true
		e := Example{path, was.Rule.String(), was.Rule.Line, is.Rule.String(), is.Rule.Line}
		if is.Allowed {
			c.Opened = append(c.Opened, e)
		} else {
			c.Blocked = append(c.Blocked, e)
		}
	}
	for _, list := range []*[]Example{&c.Blocked, &c.Opened} {
		slices.SortStableFunc(*list, func(a, b Example) int { return cmp.Compare(len(a.URL), len(b.URL)) })
		*list = slices.Clip((*list)[:min(len(*list), maxExamples)])
	}
	return c, len(c.Blocked)+len(c.Opened) > 0
}

// kind is what a rule says, whatever line it stands in.
type kind struct {
	allow     bool
	canonical string
}

// changed returns the rules that stand in one list only. Rules that match
// nothing do not count.
func changed(before, after []policy.Rule) (added, removed []policy.Rule) {
	return without(after, before), without(before, after)
}

func without(rules, other []policy.Rule) []policy.Rule {
	have := make(map[kind]bool)
	for _, r := range other {
		have[kind{r.Allow, r.Canonical()}] = true
	}
	var left []policy.Rule
	for _, r := range rules {
		k := kind{r.Allow, r.Canonical()}
		if k.canonical != "" && !have[k] {
			have[k] = true
			left = append(left, r)
		}
	}
	return left
}

// countNew counts the rules of after that before has not, or not for the same
// names.
func countNew(before, after *policy.Robots) int {
	type line struct {
		names string
		kind
	}
	count := func(robots *policy.Robots, of func(line)) {
		for _, g := range robots.Groups() {
			var names []string
			for _, a := range g.Agents {
				names = append(names, strings.ToLower(a.Name))
			}
			slices.Sort(names)
			for _, r := range g.Rules {
				of(line{strings.Join(names, "\n"), kind{r.Allow, r.Canonical()}})
			}
		}
	}
	have := make(map[line]bool)
	count(before, func(l line) { have[l] = true })
	n := 0
	count(after, func(l line) {
		if !have[l] {
			n++
		}
	})
	return n
}

func texts(rules []policy.Rule) []string {
	list := []string{}
	for _, r := range rules[:min(len(rules), maxRules)] {
		list = append(list, r.String())
	}
	if n := len(rules) - len(list); n > 0 {
		list = append(list, fmt.Sprintf("(%d more)", n))
	}
	return list
}

// byClass sorts clients into classes, search engines first.
func byClass(ids []uaident.Identity) []Crawlers {
	var all []Crawlers
	for _, id := range ids {
		class := id.Class.String()
		at := slices.IndexFunc(all, func(c Crawlers) bool { return c.Class == class })
		if at < 0 {
			all, at = append(all, Crawlers{Class: class}), len(all)
		}
		all[at].Names = append(all[at].Names, id.Name())
	}
	for i := range all {
		slices.SortStableFunc(all[i].Names, func(a, b string) int { return -cmp.Compare(fame(a), fame(b)) })
	}
	slices.SortStableFunc(all, func(a, b Crawlers) int { return cmp.Compare(Rank(a.Class), Rank(b.Class)) })
	return all
}

// Rank orders classes by how much their absence is felt: 0 for search engines,
// more for what matters less.
func Rank(class string) int {
	order := []string{"search", "ai_search", "ai_assistant", "ai_training", "preview", "ads", "archive", "feed", "monitor", "service", "seo"}
	if i := slices.Index(order, class); i >= 0 {
		return i
	}
	return len(order)
}

// fame puts the names that everybody knows first in their class.
func fame(name string) int {
	famous := []string{"OAI-SearchBot", "GPTBot", "ClaudeBot", "PerplexityBot", "DuckDuckBot", "Applebot", "Baiduspider", "YandexBot", "bingbot", "Googlebot"}
	return slices.Index(famous, name)
}

package lint

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// These bounds limit the names, the example pages, and the lines with preferences in the search for
// contradictions. If a file has more lines with preferences, unmatchedPath is the only example
// page.
const (
	maxComparedNames   = 30
	maxComparedTargets = 20
	maxComparedLines   = 500
)

// checkContradictions adds findings about two lines with opposite preferences for the same crawler
// and page. It reports at most one pair of lines for each crawler and each of the targets.
func (c *checker) checkContradictions(targets []policy.Target) {
	if len(targets) == 0 {
		return
	}
	reported := make(map[[2]int]bool)
	check := func(s *policy.SelectedGroup, control string) {
		for i := range targets {
			if !s.JudgeTarget(&targets[i]).Allowed {
				continue
			}
			a, b, use, ok := findOppositeStatements(c.robots.DecidingStatements(s, &targets[i], control))
			if !ok || reported[[2]int{a.Line, b.Line}] {
				continue
			}
			reported[[2]int{a.Line, b.Line}] = true
			if a.Source == policy.ContentUsage && b.Source == policy.ContentUsage {
				c.addValueFinding(ConflictingUsages, b.Line, "line %d states the opposite about %s for the same path, and n wins; remove one of the lines", a.Line, use)
			} else {
				c.addValueFinding(ContradictoryPreferences, b.Line, "%s states %s=%s here, and %s in line %d states %s=%s; n wins; make both lines agree", b.Source, use, b.Preferences[use], a.Source, a.Line, use, a.Preferences[use])
			}
		}
	}
	names := 0
	for _, g := range c.groups {
		for _, a := range g.Agents {
			if names++; names <= maxComparedNames && !policy.IsTraining(a.Name) {
				check(c.robots.Select(isWildcardName(a.Name), trimVersionAndStar(a.Name)), "")
			}
		}
	}
	// These are crawlers whose operators have a control token.
	for _, token := range []string{"Googlebot", "Applebot"} {
		crawler := uaident.Default().Lookup(token)
		check(c.groupFor(crawler), crawler.ControlToken())
	}
}

// preferenceTargets returns example pages whose preferences may differ, or nil for a file without
// preferences.
func (c *checker) preferenceTargets() []policy.Target {
	paths, lines := []string{unmatchedPath}, 0
	for _, r := range c.robots.Records() {
		if strings.EqualFold(r.Key, policy.ContentUsage) || strings.EqualFold(r.Key, policy.ContentSignal) {
			path, _ := policy.SplitUsagePath(r.Value)
			paths, lines = append(paths, path), lines+1
		}
	}
	for _, s := range []*policy.SelectedGroup{c.robots.TrainingGroup(), c.robots.Select(false, "Google-Extended"), c.robots.Select(false, "Applebot-Extended")} {
		for _, r := range s.Rules() {
			paths = append(paths, r.Path)
		}
	}
	switch {
	case len(paths) == 1:
		return nil
	case lines > maxComparedLines:
		paths = paths[:1]
	}
	targets := make([]policy.Target, 0, maxComparedTargets)
	known := make(map[string]bool)
	for _, path := range paths {
		path = "/" + strings.TrimPrefix(strings.NewReplacer("*", "x", "$", "").Replace(path), "/")
		if !known[path] && len(targets) < maxComparedTargets {
			known[path] = true
			targets = append(targets, policy.Target{})
			targets[len(targets)-1].Set(path, false)
		}
	}
	return targets
}

// findOppositeStatements returns two lines with opposite preferences about a use. a is the earlier line.
func findOppositeStatements(statements []policy.Statement) (a, b policy.Statement, use policy.Use, found bool) {
	for i, a := range statements {
		for _, b := range statements[i+1:] {
			use, found := a.ConflictingUse(b.Preferences)
			switch {
			case !found:
			case a.Line > b.Line:
				return b, a, use, true
			default:
				return a, b, use, true
			}
		}
	}
	return a, b, use, false
}

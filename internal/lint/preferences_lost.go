package lint

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// checkLostPreferences adds findings about groups that omit a preference of the * group. A named
// crawler obeys only its own group (RFC 9309 section 2.2.1). A file with an invalid preference gets
// no such finding.
func (c *checker) checkLostPreferences(targets []policy.Target) {
	if len(targets) == 0 || c.hasFinding(InvalidUsage) || c.hasFinding(UnknownUsageLabel) || c.hasFinding(RelativeUsagePath) || c.hasFinding(InvalidSignal) {
		return
	}
	// For each target, these are the preferences for crawlers to which the * group applies.
	stated := make([][]policy.Statement, len(targets))
	for i := range targets {
		stated[i] = c.robots.DecidingStatements(c.robots.Select(true), &targets[i], "")
	}
	names := 0
	for _, g := range c.groups {
		for _, a := range g.Agents {
			if names++; names > maxCheckedNames {
				return
			}
			if trimVersionAndStar(a.Name) != "" && !policy.IsTraining(a.Name) && c.checkOmittedPreference(a, targets, stated) {
				break // One finding is reported for each group.
			}
		}
	}
}

// checkOmittedPreference adds a finding if the groups of an agent omit a preference of the * group.
// wildcardStatements has the lines of the * group for each target. The result reports whether it
// added a finding.
func (c *checker) checkOmittedPreference(a policy.Agent, targets []policy.Target, wildcardStatements [][]policy.Statement) bool {
	group := c.robots.Select(false, trimVersionAndStar(a.Name))
	var own policy.Preferences
	lines := make(map[policy.Use]int) // These are the first lines of the * group about each use.
	for i := range targets {
		if !group.JudgeTarget(&targets[i]).Allowed {
			continue
		}
		own = own.Combine(c.robots.Preferences(group, &targets[i], ""))
		for _, s := range wildcardStatements[i] {
			for use, value := range s.Preferences {
				if line := lines[policy.Use(use)]; value != policy.PreferenceUnknown && (line == 0 || s.Line < line) {
					lines[policy.Use(use)] = s.Line
				}
			}
		}
	}
	var what []string
	first := 0
	for _, use := range policy.AllUses() {
		if line := lines[use]; line > 0 && own[use] == policy.PreferenceUnknown {
			what = append(what, use.String())
			if first == 0 || line < first {
				first = line
			}
		}
	}
	switch {
	case len(what) == 0:
		return false
	case own == policy.Preferences{}:
		c.addOncePerFile(OmittedPreference, a.Line, "%s obeys only this group, so the preferences in line %d do not apply to this crawler; repeat line %[2]d here", quoteExcerpt(a.Name), first)
	default:
		c.addOncePerFile(OmittedPreference, a.Line, "%s obeys only this group, so the preference in line %d about %s does not apply to it; repeat it here", quoteExcerpt(a.Name), first, strings.Join(what, " and "))
	}
	return true
}

package managed

import (
	"fmt"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// vocabulary has the uses and values that a Content-Usage or Content-Signal line may have.
type vocabulary struct {
	keys     []string
	yes, no  string
	hasPaths bool
}

// vocabularies has the vocabulary of the IETF working group AIPREF (draft-ietf-aipref-vocab) and that of
// contentsignals.org, by the key of the line.
var vocabularies = map[string]vocabulary{
	policy.ContentUsage:  {[]string{"train-ai", "ai-use", "search"}, "y", "n", true},
	policy.ContentSignal: {[]string{"search", "ai-input", "ai-train"}, "yes", "no", false},
}

// preference is a Content-Usage or Content-Signal line: how fetched pages may be used.
type preference struct {
	kind string // kind is policy.ContentUsage or policy.ContentSignal.
	path string // path is "" for the whole site.
	uses []preferenceMember
}

// preferenceMember is a use and its value, such as train-ai and n.
type preferenceMember struct{ key, value string }

// parsePreference parses the value of a Content-Usage or Content-Signal line from a configuration,
// for example "/blog train-ai=n, search=y". Errors say how to correct the value.
func parsePreference(kind, text string) (p preference, err error) {
	words := vocabularies[kind]
	p.kind = kind
	rest := text
	if strings.HasPrefix(text, "/") {
		if !words.hasPaths {
			return p, fmt.Errorf("%q has a path, but content_signal applies to the whole site; remove the path", text)
		}
		p.path, rest, _ = strings.Cut(text, " ")
		if err := checkPath(p.path); err != nil {
			return p, err
		}
	}
	for part := range strings.SplitSeq(rest, ",") {
		c, err := words.parseUse(strings.Trim(part, " \t"))
		if err != nil {
			return p, fmt.Errorf("%q: %w", text, err)
		}
		if slices.ContainsFunc(p.uses, func(o preferenceMember) bool { return o.key == c.key }) {
			return p, fmt.Errorf("%q has %s twice; remove one", text, c.key)
		}
		p.uses = append(p.uses, c)
	}
	return p, nil
}

// parsePreference returns the preference of a rule, or nil for a rule without one.
func (r *rule) parsePreference() (*preference, error) {
	for kind, text := range map[string]string{policy.ContentUsage: r.ContentUsage, policy.ContentSignal: r.ContentSignal} {
		if text != "" {
			p, err := parsePreference(kind, text)
			return &p, err
		}
	}
	return nil, nil
}

// parseUse parses a use and its value, such as "train-ai=n".
func (v vocabulary) parseUse(part string) (preferenceMember, error) {
	key, value, _ := strings.Cut(part, "=")
	switch {
	case part == "":
		return preferenceMember{}, fmt.Errorf("a use is missing; write a use such as %s=%s, with commas between several", v.keys[0], v.no)
	case v.hasPaths && strings.Contains(key, " "):
		return preferenceMember{}, fmt.Errorf("%q is not a known use; begin a path with /, and write commas between uses", key)
	case !slices.Contains(v.keys, key):
		return preferenceMember{}, fmt.Errorf("%q is not a known use; write %s, each with =%s or =%s, and commas between several",
			key, strings.Join(v.keys, ", "), v.yes, v.no)
	case value != v.yes && value != v.no:
		return preferenceMember{}, fmt.Errorf("%s has to be %s or %s; write %s=%s", key, v.yes, v.no, key, v.no)
	}
	return preferenceMember{key, value}, nil
}

// String returns the preference as a robots.txt line.
func (p preference) String() string {
	parts := make([]string, len(p.uses))
	for i, c := range p.uses {
		parts[i] = c.key + "=" + c.value
	}
	return strings.TrimSuffix(p.kind+": "+p.path, " ") + " " + strings.Join(parts, ", ")
}

// policyPreferences returns the uses and values as in package policy.
func (p preference) policyPreferences() (says policy.Preferences) {
	_, value := policy.SplitUsagePath(strings.TrimPrefix(p.String(), p.kind+": "))
	if p.kind == policy.ContentSignal {
		return policy.ParseSignals(value)
	}
	says, _ = policy.ParsePreferences(value) // The line is valid, because String wrote it.
	return says
}

// parseBasePreference parses a line of a base in the way crawlers do. ok is false for lines with
// another key, and for invalid dictionaries, which crawlers ignore (RFC 9651 section 4.2).
func parseBasePreference(line string) (p preference, ok bool) {
	for kind := range vocabularies {
		value, ok := lineValue(line, strings.ToLower(kind))
		if !ok {
			continue
		}
		p.kind = kind
		p.path, value = policy.SplitUsagePath(value)
		if _, err := policy.ParsePreferences(value); kind == policy.ContentUsage && err != nil {
			return preference{}, false
		}
		for part := range strings.SplitSeq(value, ",") {
			key, says, _ := strings.Cut(strings.Trim(part, " \t"), "=")
			p.uses = append(p.uses, preferenceMember{key, says})
		}
		return p, true
	}
	return preference{}, false
}

// parseBasePreferences returns the preferences among some lines of the base, the site's own
// robots.txt.
func parseBasePreferences(lines []string) (all []preference) {
	for _, line := range lines {
		if p, ok := parseBasePreference(line); ok {
			all = append(all, p)
		}
	}
	return all
}

// subtract returns p without the uses that others set for the same path.
func (p preference) subtract(others []preference) preference {
	p.uses = slices.DeleteFunc(slices.Clone(p.uses), func(c preferenceMember) bool {
		return slices.ContainsFunc(others, func(o preference) bool { return o.setsUse(p, c.key) })
	})
	return p
}

// setsUse reports whether p sets the use with this key for the path of o. Both must be of the same
// kind.
func (p preference) setsUse(o preference, key string) bool {
	return p.kind == o.kind && p.path == o.path && slices.ContainsFunc(p.uses, func(c preferenceMember) bool { return c.key == key })
}

// removePreferences removes from lines the preferences that the preferences in by replace.
func removePreferences(lines []string, by []preference) (all []string) {
	if len(by) == 0 {
		return lines
	}
	for _, line := range lines {
		p, ok := parseBasePreference(line)
		if !ok {
			all = append(all, line)
			continue
		}
		switch rest := p.subtract(by); {
		case len(rest.uses) == len(p.uses):
			all = append(all, line)
		case len(rest.uses) > 0:
			all = append(all, rest.String())
		}
	}
	return all
}

// preferenceLines returns preferences as robots.txt lines.
func preferenceLines(all []preference) (lines []string) {
	for _, p := range all {
		lines = append(lines, p.String())
	}
	return lines
}

// disallowsWholeSite reports whether the lines of a group disallow the whole site. Preferences in
// the group would then have no effect.
func disallowsWholeSite(lines []string) bool {
	closed := false
	for _, line := range lines {
		if path, ok := lineValue(line, "allow"); ok && path != "" {
			return false
		}
		path, ok := lineValue(line, "disallow")
		closed = closed || ok && (path == "/" || path == "/*" || path == "*")
	}
	return closed
}

// A preference about all crawlers is written into every group, because a crawler with its own group
// ignores the * group. If a group has a preference about the same use and pages already, the
// group's preference wins.

// missingPreferences returns the preferences about all crawlers that the lines of a group lack, as
// lines. The result is empty if the group disallows the whole site.
func (p *Plan) missingPreferences(lines []string) []string {
	if len(p.preferencesForAll) == 0 || disallowsWholeSite(lines) {
		return nil
	}
	own := parseBasePreferences(lines)
	var lacks []preference
	for _, r := range p.preferencesForAll {
		if rest := r.preference.subtract(own); len(rest.uses) > 0 {
			lacks = append(lacks, rest)
		}
	}
	return preferenceLines(lacks)
}

// maxReadLines is the maximum number of lines to read for all crawlers of the base. It limits the
// time for a hostile base with many names, because each name needs a copy of its group.
const maxReadLines = 1_000_000

// addPreferencesToGroups writes the preferences about all crawlers into the groups of the base,
// except groups whose user-agent lines were all removed. If a group names several crawlers and not
// all of them lack the same preferences, each crawler that lacks a preference gets a group of its
// own. These groups are returned.
func (c *composition) addPreferencesToGroups() (moved []*appendedGroup) {
	if len(c.plan.preferencesForAll) == 0 {
		return nil
	}
	places := c.file.agentLinesByName()
	missing := make(map[string][]string)
	for folded, at := range places {
		if folded == AnyCrawler || policy.IsTraining(folded) {
			continue
		}
		lines := c.file.groupContent(at)
		if c.readLines += len(lines); c.readLines > maxReadLines {
			c.limitExceeded = true
			return nil
		}
		for _, p := range at {
			lines = append(lines, c.file.addedToGroup(p.group)...)
		}
		missing[folded] = c.plan.missingPreferences(lines)
	}
	for i := range c.file.groups {
		left := c.file.remainingAgentLines(i)
		if lackSamePreferences(left, missing) {
			continue
		}
		for _, a := range left {
			folded := strings.ToLower(a.agent.Name)
			if lacks := missing[folded]; len(lacks) > 0 {
				lines := ensureRule(append(c.file.groupContent(places[folded]), lacks...))
				if c.movedBytes += len(strings.Join(lines, "\n")); c.movedBytes > policy.MaxSize {
					c.limitExceeded = true
					return nil
				}
				moved = append(moved, &appendedGroup{comment: c.plan.preferenceComment(), names: []string{a.agent.Name}, lines: lines})
				c.file.removeAgentLines(places[folded])
			}
		}
	}
	for i := range c.file.groups {
		if left := c.file.remainingAgentLines(i); len(left) > 0 && !isWildcard(left[0].agent.Name) {
			if lacks := missing[strings.ToLower(left[0].agent.Name)]; len(lacks) > 0 {
				comment := []string{c.plan.preferenceComment()}
				c.file.insertIntoGroup(i, append(comment, lacks...))
				lacks = slices.DeleteFunc(slices.Clone(lacks), func(line string) bool { return !hasKey(line, "content-usage") })
				if len(lacks) > 0 {
					c.file.insertIntoUsageSections(i, append(comment, lacks...))
				}
			}
		}
	}
	return moved
}

// lackSamePreferences reports whether all crawlers of a group lack the same preferences. missing
// has the missing preference lines of each crawler, by its name in lower case.
func lackSamePreferences(places []agentLine, missing map[string][]string) bool {
	for _, p := range places {
		if !slices.Equal(missing[strings.ToLower(p.agent.Name)], missing[strings.ToLower(places[0].agent.Name)]) {
			return false
		}
	}
	return true
}

// preferenceComment returns the comment above added preferences: the names of the rules about all
// crawlers.
func (p *Plan) preferenceComment() string {
	w := new(crawlerRules)
	for _, r := range p.preferencesForAll {
		w.ids = append(w.ids, r.name)
	}
	w.ids = removeDuplicates(w.ids)
	return w.ruleComment()
}

// agentLinesByName returns the user-agent lines of the base by lower-case name.
func (f *baseFile) agentLinesByName() map[string][]agentLine {
	all := make(map[string][]agentLine)
	for i, g := range f.groups {
		for _, a := range g.Agents {
			folded := strings.ToLower(a.Name)
			if isWildcard(a.Name) {
				folded = AnyCrawler
			}
			all[folded] = append(all[folded], agentLine{i, a})
		}
	}
	return all
}

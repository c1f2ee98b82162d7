package managed

import (
	"fmt"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// The keys of lines about the use of fetched pages. They do not disallow fetching.
const (
	// contentUsage is the key of the IETF working group AIPREF (draft-ietf-aipref-attach, with the
	// vocabulary of draft-ietf-aipref-vocab).
	contentUsage = policy.ContentUsage
	// contentSignal is the key of contentsignals.org.
	contentSignal = policy.ContentSignal
)

// vocabulary has the uses and values of a kind of line.
type vocabulary struct {
	keys     []string
	yes, no  string
	hasPaths bool
}

var vocabularies = map[string]vocabulary{
	contentUsage:  {[]string{"train-ai", "ai-use", "search"}, "y", "n", true},
	contentSignal: {[]string{"search", "ai-input", "ai-train"}, "yes", "no", false},
}

// preference is a line about the use of some pages.
type preference struct {
	kind string // contentUsage or contentSignal
	path string // "" for the whole site
	uses []useValue
}

// useValue is the value of a use.
type useValue struct{ key, value string }

// parsePreference parses the value of a line, for example "/blog train-ai=n, search=y". Errors
// explain the fix.
func parsePreference(kind, text string) (p preference, err error) {
	words := vocabularies[kind]
	p.kind = kind
	rest := text
	if strings.HasPrefix(text, "/") {
		if !words.hasPaths {
			return p, fmt.Errorf("%q has a path, but a signal applies to the whole site; remove the path", text)
		}
		p.path, rest, _ = strings.Cut(text, " ")
		if err := checkPath(p.path); err != nil {
			return p, err
		}
	}
	for part := range strings.SplitSeq(rest, ",") {
		c, err := words.parse(strings.Trim(part, " \t"))
		if err != nil {
			return p, fmt.Errorf("%q: %w", text, err)
		}
		if slices.ContainsFunc(p.uses, func(o useValue) bool { return o.key == c.key }) {
			return p, fmt.Errorf("%q has %s twice; remove one", text, c.key)
		}
		p.uses = append(p.uses, c)
	}
	return p, nil
}

// parsePreference returns the preference of a rule, or nil.
func (r *rule) parsePreference() (*preference, error) {
	for kind, text := range map[string]string{contentUsage: r.ContentUsage, contentSignal: r.ContentSignal} {
		if text != "" {
			p, err := parsePreference(kind, text)
			return &p, err
		}
	}
	return nil, nil
}

// parse parses a member of a dictionary.
func (v vocabulary) parse(part string) (useValue, error) {
	key, value, _ := strings.Cut(part, "=")
	switch {
	case part == "":
		return useValue{}, fmt.Errorf("a use is missing; write a use such as %s=%s, with commas between several", v.keys[0], v.no)
	case v.hasPaths && strings.Contains(key, " "):
		return useValue{}, fmt.Errorf("%q is not a known use; begin a path with /, and write commas between uses", key)
	case !slices.Contains(v.keys, key):
		return useValue{}, fmt.Errorf("%q is not a known use; write %s, each with =%s or =%s, and commas between several",
			key, strings.Join(v.keys, ", "), v.yes, v.no)
	case value != v.yes && value != v.no:
		return useValue{}, fmt.Errorf("%s has to be %s or %s; write %s=%s", key, v.yes, v.no, key, v.no)
	}
	return useValue{key, value}, nil
}

// String returns the preference as a line.
func (p preference) String() string {
	parts := make([]string, len(p.uses))
	for i, c := range p.uses {
		parts[i] = c.key + "=" + c.value
	}
	return strings.TrimSuffix(p.kind+": "+p.path, " ") + " " + strings.Join(parts, ", ")
}

// policyUses returns the uses of the preference.
func (p preference) policyUses() (says policy.Preferences) {
	_, value := policy.SplitUsagePath(strings.TrimPrefix(p.String(), p.kind+": "))
	if p.kind == contentSignal {
		return policy.ParseSignals(value)
	}
	says, _ = policy.ParsePreferences(value) // valid, because String wrote it
	return says
}

// readPreference parses a line of a base as crawlers do. ok is false for other lines, and for invalid
// dictionaries, which crawlers ignore (RFC 9651 section 4.2).
func readPreference(line string) (p preference, ok bool) {
	for kind := range vocabularies {
		value, ok := lineValue(line, strings.ToLower(kind))
		if !ok {
			continue
		}
		p.kind = kind
		p.path, value = policy.SplitUsagePath(value)
		if _, err := policy.ParsePreferences(value); kind == contentUsage && err != nil {
			return preference{}, false
		}
		for part := range strings.SplitSeq(value, ",") {
			key, says, _ := strings.Cut(strings.Trim(part, " \t"), "=")
			p.uses = append(p.uses, useValue{key, says})
		}
		return p, true
	}
	return preference{}, false
}

// readPreferences returns the preferences in lines.
func readPreferences(lines []string) (all []preference) {
	for _, line := range lines {
		if p, ok := readPreference(line); ok {
			all = append(all, p)
		}
	}
	return all
}

// subtract returns a preference without the uses and pages of other preferences.
func (p preference) subtract(others []preference) preference {
	p.uses = slices.DeleteFunc(slices.Clone(p.uses), func(c useValue) bool {
		return slices.ContainsFunc(others, func(o preference) bool { return o.includes(p, c.key) })
	})
	return p
}

// includes reports whether p has a value for a use of the pages of o.
func (p preference) includes(o preference, key string) bool {
	return p.kind == o.kind && p.path == o.path && slices.ContainsFunc(p.uses, func(c useValue) bool { return c.key == key })
}

// removePreferences removes from lines the preferences that by replaces.
func removePreferences(lines []string, by []preference) (all []string) {
	if len(by) == 0 {
		return lines
	}
	for _, line := range lines {
		p, ok := readPreference(line)
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

// preferenceLines returns preferences as lines.
func preferenceLines(all []preference) (lines []string) {
	for _, p := range all {
		lines = append(lines, p.String())
	}
	return lines
}

// disallowsAll reports whether lines disallow the whole site. Preferences would then have no effect.
func disallowsAll(lines []string) bool {
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

// A preference about all crawlers is written into the * group and into every other group. A crawler
// that a group names ignores the * group. A group's own preference about the same use and pages wins.

// missingPreferences returns the preferences about all crawlers missing in a group, as lines.
func (p *Plan) missingPreferences(lines []string) []string {
	if len(p.preferencesForAll) == 0 || disallowsAll(lines) {
		return nil
	}
	own := readPreferences(lines)
	var lacks []preference
	for _, r := range p.preferencesForAll {
		if rest := r.preference.subtract(own); len(rest.uses) > 0 {
			lacks = append(lacks, rest)
		}
	}
	return preferenceLines(lacks)
}

// maxReadLines is the maximum number of lines to read for all crawlers of the base. It limits the time
// for a hostile base, because each name copies its group.
const maxReadLines = 1_000_000

// addPreferences writes the preferences about all crawlers into the remaining groups of the base. If
// the crawlers of a group lack different preferences, the crawlers with missing preferences leave the
// group, and are returned as blocks.
func (c *composition) addPreferences() (moved []*newGroup) {
	if len(c.plan.preferencesForAll) == 0 {
		return nil
	}
	places := c.file.agentLinesByName()
	missing := make(map[string][]string)
	for folded, at := range places {
		if folded == AnyCrawler || policy.IsTraining(folded) {
			continue
		}
		lines := c.file.contentBelow(at)
		if c.readLines += len(lines); c.readLines > maxReadLines {
			c.limitExceeded = true
			return nil
		}
		if w := c.plan.byCrawler[folded]; w != nil {
			lines = slices.Concat(lines, w.pathLines, preferenceLines(w.preferences))
		}
		missing[folded] = c.plan.missingPreferences(lines)
	}
	for i := range c.file.groups {
		left := c.file.remainingAgents(i)
		if allLackTheSame(left, missing) {
			continue
		}
		for _, a := range left {
			folded := strings.ToLower(a.Name)
			if lacks := missing[folded]; len(lacks) > 0 {
				lines := ensureRule(append(c.file.contentBelow(places[folded]), lacks...))
				if c.movedBytes += len(strings.Join(lines, "\n")); c.movedBytes > policy.MaxSize {
					c.limitExceeded = true
					return nil
				}
				moved = append(moved, &newGroup{comment: c.plan.preferenceComment(), names: []string{a.Name}, lines: lines})
				c.file.removeAgents(places[folded])
			}
		}
	}
	for i := range c.file.groups {
		if left := c.file.remainingAgents(i); len(left) > 0 && !isWildcard(left[0].Name) {
			if lacks := missing[strings.ToLower(left[0].Name)]; len(lacks) > 0 {
				c.file.insertIntoGroup(i, append([]string{c.plan.preferenceComment()}, lacks...))
			}
		}
	}
	return moved
}

// allLackTheSame reports whether all crawlers of a group lack the same preferences.
func allLackTheSame(agents []policy.Agent, missing map[string][]string) bool {
	for _, a := range agents {
		if !slices.Equal(missing[strings.ToLower(a.Name)], missing[strings.ToLower(agents[0].Name)]) {
			return false
		}
	}
	return true
}

// preferenceComment returns the comment with the rules of the preferences about all crawlers.
func (p *Plan) preferenceComment() string {
	w := new(crawlerRules)
	for _, r := range p.preferencesForAll {
		w.ids = append(w.ids, r.name)
	}
	w.ids = removeDuplicates(w.ids)
	return w.ruleComment()
}

// agentLinesByName returns the user-agent lines by folded name.
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

// remainingAgents returns the remaining user-agent lines of a group.
func (f *baseFile) remainingAgents(group int) (agents []policy.Agent) {
	for _, a := range f.groups[group].Agents {
		if !f.removed[a.Line] {
			agents = append(agents, a)
		}
	}
	return agents
}

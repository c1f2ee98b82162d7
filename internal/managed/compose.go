package managed

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Staging is the robots.txt of a staging site. It disallows everything.
const Staging = "# This site is for tests: robots_txt has it as staging.\nUser-agent: *\nDisallow: /\n"

// Compose returns the file that the plan makes from a base for a host. The base may be nil. After
// an error nothing may be published. Crawlers truncate a file longer than [policy.MaxSize]. If
// crawlers interpret the base differently, the file could disallow more than intended.
func (p *Plan) Compose(base []byte, host string) ([]byte, error) {
	if len(base) > policy.MaxSize {
		return nil, fmt.Errorf("the base has more than %d bytes, and crawlers ignore the rest; shorten the base", policy.MaxSize)
	}
	if p.IsEmpty() {
		return base, nil
	}
	f := newFile(base)
	c := &composition{plan: p, file: f}
	added := c.changeGroups()
	if c.limitExceeded {
		return nil, errors.New("the base has too many crawlers and lines to add a preference for all crawlers; shorten it")
	}
	for _, s := range p.sitemaps {
		added += "Sitemap: " + s + "\n"
	}
	for _, s := range p.extraLines {
		added += s + "\n"
	}
	text := f.text()
	version := sha256.Sum256([]byte(text + added))
	text += "\n# Added by robots_txt, version " + hex.EncodeToString(version[:6]) + "\n" + added
	if p.dependsOnHost {
		text = replaceHost(text, host)
	}
	if len(text) > policy.MaxSize {
		return nil, fmt.Errorf("the robots.txt would have %d bytes, but crawlers read only %d; shorten the base or write fewer rules", len(text), policy.MaxSize)
	}
	if isAmbiguous(f.robots) {
		if err := c.checkNotStricter(policy.Parse([]byte(text))); err != nil {
			return nil, err
		}
	}
	return []byte(text), nil
}

// composition is the state of a Compose call.
type composition struct {
	plan          *Plan
	file          *baseFile
	wildcardLines []string        // lines of the * group
	targets       []targetCrawler // crawlers whose groups change, in file order

	readLines, movedBytes int  // lines read and bytes moved by addPreferences
	limitExceeded         bool // one of these limits is exceeded
}

// targetCrawler is a crawler with its own group in the result.
type targetCrawler struct {
	name  string
	names groupNames
	rules *crawlerRules // nil for a crawler without a rule
}

// changeGroups changes the groups of the base, and returns the groups to append.
func (c *composition) changeGroups() string {
	everybody := c.plan.byCrawler[AnyCrawler]
	c.wildcardLines = c.file.contentBelow(c.file.agentLinesNaming(AnyCrawler))
	if everybody != nil {
		c.wildcardLines = everybody.applyTo(c.wildcardLines)
	}
	c.targets = c.findTargets()
	var blocks []*newGroup
	for _, t := range c.targets {
		if own := c.ownGroup(t); own >= 0 {
			c.file.insertIntoGroup(own, slices.Concat([]string{t.rules.ruleComment()}, t.rules.pathLines, preferenceLines(t.rules.preferences)))
			continue
		}
		b := &newGroup{comment: "# As before", names: []string{t.name}, lines: c.linesFor(t)}
		if t.rules != nil {
			b.comment = t.rules.ruleComment()
		}
		same := slices.IndexFunc(blocks, func(o *newGroup) bool { return o.comment == b.comment && slices.Equal(o.lines, b.lines) })
		if same >= 0 {
			blocks[same].names = append(blocks[same].names, t.name)
		} else {
			blocks = append(blocks, b)
		}
	}
	for _, t := range c.targets { // after all contents were read
		if c.ownGroup(t) < 0 {
			c.file.removeAgents(c.file.agentLinesNaming(t.name))
		}
	}
	blocks = append(blocks, c.addPreferences()...)
	var b strings.Builder
	for _, block := range blocks {
		block.write(&b)
	}
	return b.String()
}

// findTargets returns the crawlers whose groups change.
func (c *composition) findTargets() (all []targetCrawler) {
	for _, folded := range c.plan.crawlerOrder {
		w := c.plan.byCrawler[folded]
		names := w.groupNames()
		all = append(all, targetCrawler{w.name, names, w})
		if w.crawler == nil {
			continue
		}
		for _, alias := range w.crawler.Aliases {
			if c.plan.byCrawler[strings.ToLower(alias)] == nil && c.file.robots.NamesToken(alias) {
				all = append(all, targetCrawler{alias, append(groupNames{alias}, names...), w})
			}
		}
	}
	for _, names := range c.plan.inheritors {
		if c.plan.wouldInherit(names, c.file.robots) {
			all = append(all, targetCrawler{names[0], names, nil})
		}
	}
	return all
}

// ownGroup returns the group of the base to which the rules of a target can be added, or -1. Only the
// target may use the group.
func (c *composition) ownGroup(t targetCrawler) int {
	if t.rules == nil || t.rules.wholeSiteLine != "" || t.rules.delayLine != "" {
		return -1
	}
	places := c.file.agentLinesNaming(t.name)
	before := c.file.contentBelow(places)
	if all := slices.Concat(before, t.rules.pathLines); len(removeOverridden(all)) < len(all) || !slices.Equal(removePreferences(before, t.rules.preferences), before) {
		return -1
	}
	return c.file.ownGroup(places)
}

// linesFor returns the lines for a target's group.
func (c *composition) linesFor(t targetCrawler) []string {
	if t.name == AnyCrawler {
		return ensureRule(c.wildcardLines)
	}
	lines, named := c.wildcardLines, false
	if policy.IsTraining(t.name) { // inherits nothing from *, and is not a crawler that uses pages
		return ensureRule(t.rules.applyTo(c.file.contentBelow(c.file.agentLinesNaming(t.name))))
	}
	if places := c.file.obeyedGroup(t.names); places != nil {
		lines, named = c.file.contentBelow(places), true
	}
	if t.rules != nil {
		lines = t.rules.applyTo(lines)
	}
	if named || t.rules != nil && t.rules.wholeSiteLine != "" {
		lines = append(lines, c.plan.missingPreferences(lines)...)
	}
	return ensureRule(lines)
}

// applyTo returns the lines of a group with the rules applied.
func (w *crawlerRules) applyTo(lines []string) (all []string) {
	switch {
	case w.wholeSiteLine != "":
		all = append(all, w.wholeSiteLine)
	case w.delayLine != "":
		for _, line := range lines {
			if !hasKey(line, "crawl-delay", "crawldelay") {
				all = append(all, line)
			}
		}
	default:
		all = slices.Clone(lines)
	}
	all = append(removePreferences(all, w.preferences), w.pathLines...)
	if w.delayLine != "" {
		all = append(all, w.delayLine)
	}
	return removeOverridden(append(all, preferenceLines(w.preferences)...))
}

// removeOverridden removes disallow rules if an allow rule has the same pattern. The allow rule wins (RFC
// 9309 section 2.2.2), but some parsers use the first rule.
func removeOverridden(lines []string) []string {
	var allowed map[string]bool
	for _, line := range lines {
		if path, ok := lineValue(line, "allow"); ok {
			if allowed == nil {
				allowed = make(map[string]bool)
			}
			allowed[path] = true
		}
	}
	if allowed == nil {
		return lines
	}
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		path, ok := lineValue(line, "disallow")
		return ok && path != "" && allowed[path]
	})
}

// lineValue returns the value of a line with a key. ok is false if the line has another key. key must
// be in lower case.
func lineValue(line, key string) (value string, ok bool) {
	before, value, colon := strings.Cut(line, ":")
	if !colon || !strings.EqualFold(strings.Trim(before, "\ufeff \t"), key) {
		return "", false
	}
	return strings.Trim(value, " \t"), true
}

// ruleComment returns comment lines with the names of rules, at most about 100 characters each.
func (w *crawlerRules) ruleComment() string {
	const width = 100
	var b strings.Builder
	b.WriteByte('#')
	line := 1
	for i, id := range w.ids {
		if i > 0 {
			b.WriteByte(',')
			line++
		}
		if line > 1 && line+len(id) >= width {
			b.WriteString("\n#")
			line = 1
		}
		b.WriteString(" " + id)
		line += 1 + len(id)
	}
	return b.String()
}

// ensureRule adds an empty Disallow to lines without a rule. Otherwise the group would merge with the
// next group.
func ensureRule(lines []string) []string {
	if !slices.ContainsFunc(lines, isRuleLine) {
		return append(slices.Clone(lines), "Disallow:")
	}
	return lines
}

// isRuleLine reports whether every crawler reads a line as a rule.
func isRuleLine(line string) bool { return hasKey(line, "allow", "disallow") }

func hasKey(line string, keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		_, ok := lineValue(line, key)
		return ok
	})
}

// newGroup is a group to append.
type newGroup struct {
	comment string
	names   []string
	lines   []string
}

func (k *newGroup) write(b *strings.Builder) {
	b.WriteString(k.comment + "\n")
	for _, name := range k.names {
		b.WriteString("User-agent: " + name + "\n")
	}
	for _, line := range k.lines {
		b.WriteString(line + "\n")
	}
	b.WriteByte('\n')
}

// isAmbiguous reports whether crawlers interpret the lines of a file differently.
func isAmbiguous(robots *policy.Robots) bool {
	findings, unreported := robots.Findings()
	return unreported > 0 || slices.ContainsFunc(findings, func(f policy.Finding) bool {
		return f.Code == policy.MisspeltKey || f.Code == policy.MissingColon || f.Code == policy.AmbiguousGroup
	})
}

// maxCompared is the maximum number of path bytes to match for all crawlers together. maxNames is the
// maximum number of compared names. Both limit the CPU time for a base.
const (
	maxCompared = 2_000_000
	maxNames    = 5_000_000
)

// checkNotStricter returns an error if a composed file is stricter than its base for a crawler named by no rule.
// Compose calls check if crawlers interpret the base differently. The comparison uses example paths
// of all rules.
func (c *composition) checkNotStricter(composed *policy.Robots) error {
	before, paths := c.file.robots, examplePaths(c.file.robots, composed)
	others := c.crawlersWithoutFetchRule()
	bytes := 0
	for _, path := range paths {
		bytes += len(path)
	}
	if len(others)*bytes > maxCompared || len(others)*len(before.GroupNames()) > maxNames {
		return errors.New("crawlers interpret the base in two ways, and it is too long to check the effect of the rules on other crawlers; run caddy robots-guard lint on it and fix its findings")
	}
	for _, names := range others {
		was, is := before.Select(true, names...), composed.Select(true, names...)
		for _, path := range paths {
			if was.Judge(path).Allowed && !is.Judge(path).Allowed {
				return fmt.Errorf("crawlers interpret the base in two ways, and with the rules %s could no longer fetch %s; run caddy robots-guard lint on it and fix its findings", names[0], path)
			}
		}
	}
	return nil
}

// examplePaths returns an example path for each pattern of two files, sorted.
func examplePaths(before, after *policy.Robots) []string {
	paths := []string{"/"}
	for _, robots := range []*policy.Robots{before, after} {
		for _, g := range robots.Groups() {
			for _, r := range g.Rules {
				paths = append(paths, examplePath(r.Path))
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// crawlersWithoutFetchRule returns the crawlers without their own rule about fetching, each with its names. The
// result includes crawlers obeying another crawler's group, and an unnamed crawler.
func (c *composition) crawlersWithoutFetchRule() (others []groupNames) {
	targets := c.targets
	known := make(map[string]bool)
	for _, t := range targets {
		if !t.rules.isAboutFetching() && t.name != AnyCrawler {
			others = append(others, t.names)
		}
		known[strings.ToLower(t.name)] = true
	}
	isAbout := func(name string) bool {
		return slices.ContainsFunc(targets, func(t targetCrawler) bool { return policy.NameMatches(name, t.name) })
	}
	for _, name := range c.file.robots.GroupNames() {
		folded := strings.ToLower(name)
		if !known[folded] && !isWildcard(name) && !isAbout(name) {
			others = append(others, groupNames{name})
		}
		known[folded] = true
	}
	if !c.plan.byCrawler[AnyCrawler].isAboutFetching() {
		others = append(others, groupNames{AnyCrawler})
	}
	return others
}

// isAboutFetching reports whether rules change access to pages. The result is false for nil.
func (w *crawlerRules) isAboutFetching() bool {
	return w != nil && (w.wholeSiteLine != "" || len(w.pathLines) > 0)
}

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

// Compose applies the plan to a base, and returns the robots.txt for a host. The base may be nil.
// After an error nothing may be published: the file would be longer than [policy.MaxSize], where
// crawlers truncate, or crawlers interpret the base differently and the rules could disallow more
// than intended.
func (p *Plan) Compose(base []byte, host string) ([]byte, error) {
	if len(base) > policy.MaxSize {
		return nil, fmt.Errorf("the base has more than %d bytes, and crawlers ignore the rest; shorten the base", policy.MaxSize)
	}
	if p.IsEmpty() {
		return base, nil
	}
	f := newBaseFile(base)
	c := &composition{plan: p, file: f}
	added := c.composeGroups()
	if c.limitExceeded {
		return nil, errors.New("the base has too many crawlers and lines to add a preference for all crawlers; shorten it")
	}
	for _, s := range p.sitemaps {
		added += "Sitemap: " + s + "\n"
	}
	for _, s := range p.extraLines {
		added += s + "\n"
	}
	text := f.render()
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

// composition is the state of one call of [Plan.Compose].
type composition struct {
	plan          *Plan
	file          *baseFile
	wildcardLines []string        // wildcardLines are the lines of the * group.
	targets       []targetCrawler // targets are the crawlers whose groups change.

	// readLines counts the lines that addPreferencesToGroups reads, and movedBytes the bytes that it
	// moves.
	readLines, movedBytes int
	limitExceeded         bool // limitExceeded is true if readLines or movedBytes exceeds its limit.
}

// targetCrawler is a crawler whose rules the composed file changes, or repeats in a group of its
// own.
type targetCrawler struct {
	name  string
	names groupNames
	rules *crawlerRules // rules is nil for a crawler without a rule.
}

// composeGroups changes groups of the base in place, and returns the text of the groups to append to
// it.
func (c *composition) composeGroups() string {
	everybody := c.plan.byCrawler[AnyCrawler]
	c.wildcardLines = c.file.groupContent(c.file.findAgentLines(AnyCrawler))
	if everybody != nil {
		c.wildcardLines = everybody.applyToLines(c.wildcardLines)
	}
	c.targets = c.findTargets()
	var blocks []*appendedGroup
	for _, t := range c.targets {
		if own := c.findGroupToExtend(t); own >= 0 {
			c.file.insertIntoGroup(own, slices.Concat([]string{t.rules.ruleComment()}, t.rules.pathLines, preferenceLines(t.rules.preferences)))
			continue
		}
		b := &appendedGroup{comment: "# As before", names: []string{t.name}, lines: c.composeGroupLines(t)}
		if t.rules != nil {
			b.comment = t.rules.ruleComment()
		}
		same := slices.IndexFunc(blocks, func(o *appendedGroup) bool { return o.comment == b.comment && slices.Equal(o.lines, b.lines) })
		if same >= 0 {
			blocks[same].names = append(blocks[same].names, t.name)
		} else {
			blocks = append(blocks, b)
		}
	}
	for _, t := range c.targets { // Removing the lines earlier would change the contents.
		if c.findGroupToExtend(t) < 0 {
			c.file.removeAgentLines(c.file.findAgentLines(t.name))
		}
	}
	blocks = append(blocks, c.addPreferencesToGroups()...)
	var b strings.Builder
	for _, block := range blocks {
		block.write(&b)
	}
	return b.String()
}

// findTargets returns the crawlers whose rules change: those that a rule names, aliases with a
// group of their own in the base, and crawlers that would otherwise obey a new group.
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

// findGroupToExtend returns the index of the group of the base that the rules of t can be inserted
// into, or -1 if t needs a new group. Only t may use the group, and the rules of t must replace no
// line of the group.
func (c *composition) findGroupToExtend(t targetCrawler) int {
	if t.rules == nil || t.rules.wholeSiteLine != "" || t.rules.delayLine != "" {
		return -1
	}
	places := c.file.findAgentLines(t.name)
	before := c.file.groupContent(places)
	if all := slices.Concat(before, t.rules.pathLines); len(removeOverriddenDisallows(all)) < len(all) || !slices.Equal(removePreferences(before, t.rules.preferences), before) {
		return -1
	}
	return c.file.findExclusiveGroup(places)
}

// composeGroupLines returns the lines of the new group for t.
func (c *composition) composeGroupLines(t targetCrawler) []string {
	if t.name == AnyCrawler {
		return ensureRule(c.wildcardLines)
	}
	lines, named := c.wildcardLines, false
	// The crawler inherits nothing from the * group, and does not use pages for training or search.
	if policy.IsTraining(t.name) {
		return ensureRule(t.rules.applyToLines(c.file.groupContent(c.file.findAgentLines(t.name))))
	}
	if places := c.file.findObeyedGroup(t.names); places != nil {
		lines, named = c.file.groupContent(places), true
	}
	if t.rules != nil {
		lines = t.rules.applyToLines(lines)
	}
	if named || t.rules != nil && t.rules.wholeSiteLine != "" {
		lines = append(lines, c.plan.missingPreferences(lines)...)
	}
	return ensureRule(lines)
}

// applyToLines returns the lines of the group that a crawler obeyed until now, changed by the rules for
// the crawler.
func (w *crawlerRules) applyToLines(lines []string) (all []string) {
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
	return removeOverriddenDisallows(append(all, preferenceLines(w.preferences)...))
}

// removeOverriddenDisallows removes each Disallow line with the same path as an Allow line. The
// Allow line wins (RFC 9309 section 2.2.2), but some parsers obey the first of both.
func removeOverriddenDisallows(lines []string) []string {
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

// lineValue returns the value of a robots.txt line with this key. ok is false for a line with
// another key. key must be in lower case.
func lineValue(line, key string) (value string, ok bool) {
	before, value, colon := strings.Cut(line, ":")
	if !colon || !strings.EqualFold(strings.Trim(before, "\ufeff \t"), key) {
		return "", false
	}
	return strings.Trim(value, " \t"), true
}

// ruleComment returns the comment above added lines: the names of the rules, in lines of about 100
// characters.
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

// ensureRule adds an empty Disallow to the lines of a group without an Allow or Disallow. Without a
// rule, the group would merge with the group after it.
func ensureRule(lines []string) []string {
	if !slices.ContainsFunc(lines, isRuleLine) {
		return append(slices.Clone(lines), "Disallow:")
	}
	return lines
}

// isRuleLine reports whether a line is an Allow or Disallow line, which every crawler reads as a
// rule.
func isRuleLine(line string) bool { return hasKey(line, "allow", "disallow") }

// hasKey reports whether a line has one of the keys, which must be in lower case.
func hasKey(line string, keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		_, ok := lineValue(line, key)
		return ok
	})
}

// appendedGroup is a group that is appended to the lines of the base.
type appendedGroup struct {
	comment string
	names   []string
	lines   []string
}

func (k *appendedGroup) write(b *strings.Builder) {
	b.WriteString(k.comment + "\n")
	for _, name := range k.names {
		b.WriteString("User-agent: " + name + "\n")
	}
	for _, line := range k.lines {
		b.WriteString(line + "\n")
	}
	b.WriteByte('\n')
}

// isAmbiguous reports whether different crawlers read different rules from a file.
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

// checkNotStricter returns an error if the composed file disallows an example path that the base
// allows, for a crawler for which the plan has no allow or disallow rule. Compose calls it only for
// a base that crawlers interpret in different ways. The example paths match the patterns of both
// files.
func (c *composition) checkNotStricter(composed *policy.Robots) error {
	before, paths := c.file.robots, examplePaths(c.file.robots, composed)
	others := c.crawlersWithoutAccessRule()
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

// examplePaths returns "/" and an example path for each pattern of two files, sorted and without
// duplicates.
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

// crawlersWithoutAccessRule returns the group names of each crawler without an allow or disallow
// rule in the plan. The result includes the crawlers that the base names, and "*" for unnamed
// crawlers.
func (c *composition) crawlersWithoutAccessRule() (others []groupNames) {
	targets := c.targets
	known := make(map[string]bool)
	for _, t := range targets {
		if !t.rules.changesAccess() && t.name != AnyCrawler {
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
	if !c.plan.byCrawler[AnyCrawler].changesAccess() {
		others = append(others, groupNames{AnyCrawler})
	}
	return others
}

// changesAccess reports whether a rule allows or disallows paths for the crawler. It is false for
// nil.
func (w *crawlerRules) changesAccess() bool {
	return w != nil && (w.wholeSiteLine != "" || len(w.pathLines) > 0)
}

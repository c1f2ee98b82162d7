package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// These bounds limit the work on hostile files.
const (
	maxCheckedNames    = 1000 // maxCheckedNames is the maximum number of checked names.
	maxCheckedRuleSets = 100  // maxCheckedRuleSets is the maximum number of checked sets of rules.
	maxCheckedRules    = 2e6  // maxCheckedRules is the maximum number of rules of all names together.
	// maxCoveringCandidates limits the rules of a group that are compared to find covering rules.
	maxCoveringCandidates = 500

	// maxComparisonWork is the maximum amount of comparison, in bytes of rules that are compared
	// with targets. A star and a rule add a fixed cost.
	maxComparisonWork = 32 << 20
	costPerRule       = 32
	costPerStar       = 8
)

// These are the limits of Yandex from its list of errors in robots.txt
// (yandex.com/support/webmaster, "Robots.txt parsing errors").
const (
	maxYandexRules      = 2048
	maxYandexRuleLength = 1024 // maxYandexRuleLength is the maximum length of a rule in characters.
)

// checkRules adds findings about single rules, and then about rules that affect each other.
func (c *checker) checkRules() {
	long := 0
	for i := range c.lines.len() {
		l := c.lines.lineByIndex(i)
		if !isRuleKey(l.key) {
			continue
		}
		if long == 0 && utf8.RuneCountInString(l.value) > maxYandexRuleLength {
			long = i + 1
		}
		c.checkPath(i+1, l)
	}
	switch {
	case c.robots.RuleCount() > maxYandexRules:
		c.addFinding(AboveYandexLimits, 0, 0, "the file has %d rules, but Yandex reads at most %d; replace some rules by one with a wildcard", c.robots.RuleCount(), maxYandexRules)
	case long > 0:
		c.addValueFinding(AboveYandexLimits, long, "this rule is longer than %d characters, the maximum of Yandex", maxYandexRuleLength)
	}
	c.checkRuleSets()
}

// checkRuleSets checks, for each name in the file, the rules that apply to a crawler with this
// name. It checks equal sets of rules once.
func (c *checker) checkRuleSets() {
	listed := 0
	names, seen, reported := make(map[string]bool), make(map[string]bool), make(map[int]bool)
	for _, g := range c.groups {
		for _, a := range g.Agents {
			name := strings.ToLower(trimVersionAndStar(a.Name))
			if isWildcardName(a.Name) {
				name = "*"
			}
			if names[name] || len(names) == maxCheckedNames || listed > maxCheckedRules {
				continue
			}
			names[name] = true
			group := c.robots.Select(name == "*", name)
			if policy.IsTraining(a.Name) {
				group = c.robots.TrainingGroup()
			}
			s, _ := group.LenientAndStrict()
			rules := s.Rules()
			if listed += len(rules); len(rules) == 0 {
				continue
			}
			// This is almost as distinctive as all lines.
			key := fmt.Sprint(rules[0].Line, rules[len(rules)-1].Line, len(rules))
			if seen[key] || len(seen) == maxCheckedRuleSets {
				continue
			}
			seen[key] = true
			set := ruleSet{checker: c, group: group, selection: s, rules: rules, reportedLines: reported}
			for _, r := range rules {
				set.comparisonCost += costPerRule + len(r.Path) + costPerStar*strings.Count(r.Path, "*")
			}
			set.checkRuleSet()
		}
	}
}

// isRuleKey reports whether a key is Allow or Disallow.
func isRuleKey(key string) bool {
	return strings.EqualFold(key, "Allow") || strings.EqualFold(key, "Disallow")
}

// regexpEscape matches escapes of regular expressions. No client sends an unencoded backslash.
var regexpEscape = regexp.MustCompile(`\\[.dDwWsS/?*+$()\[\]-]`)

// checkPath adds findings about the path of an Allow or Disallow line.
func (c *checker) checkPath(number int, l line) {
	before, _, _ := strings.Cut(l.raw, "#") // The comment may end before the line, at a NUL.
	if len(l.comment) > 1 && !strings.ContainsAny(l.comment[1:2], whitespace+"#") && l.value != "" && !strings.ContainsAny(before[len(before)-1:], whitespace) {
		c.addFinding(CommentInPath, number, columnAfterText(before), "# begins a comment, so this rule is %s; write %%23 for a # in a path, or a space before a comment", quoteExcerpt(l.value))
	}
	if segments := strings.TrimSuffix(l.value, "$") + "/"; strings.Contains(segments, "/./") || strings.Contains(segments, "/../") {
		c.addValueFinding(DotSegment, number, "clients resolve /./ and /../ before a request, so %s matches no URL; write the resolved path", quoteExcerpt(l.value))
	}
	if findEscapedLineBreak(l) >= 0 {
		return // The method checkLines reports this mistake.
	}
	c.checkDoubleSlash(number, l)
	if escape := regexpEscape.FindString(l.value); escape != "" {
		c.addValueFinding(RegexpInPath, number, "%s in %s has no special meaning, because a rule is not a regular expression; write * for any characters and $ for the end of the URL",
			quoteExcerpt(escape), quoteExcerpt(l.value))
	}
	if findJoinedKey(l.value) >= 0 {
		return // The method checkLines reports this mistake.
	}
	for i, word := range strings.FieldsFunc(l.value, func(c rune) bool { return strings.ContainsRune(whitespace, c) }) {
		if i > 0 && (word[0] == '/' || word[0] == '*' || isRuleKey(strings.TrimSuffix(word, ":"))) {
			c.addValueFinding(SpaceInPath, number, "%s is read as a single path with a space; write each path in its own line", quoteExcerpt(l.value))
			break
		}
	}
}

// ruleSet has all rules that apply to a crawler.
type ruleSet struct {
	*checker
	group          *policy.SelectedGroup // group has the lenient and the strict interpretation.
	selection      *policy.SelectedGroup // selection is the lenient interpretation, which has all rules.
	rules          []policy.Rule
	unusedByte     string       // unusedByte is a byte that no rule contains.
	reportedLines  map[int]bool // reportedLines are lines that have a finding.
	comparisonCost int          // comparisonCost is the cost to compare all rules once. maxComparisonWork limits the total.
}

// addFinding adds a finding at a line, unless an earlier finding about rules has this line.
func (s *ruleSet) addFinding(code policy.Code, line int, format string, args ...any) {
	if s.reportedLines[line] {
		return
	}
	s.reportedLines[line] = true
	switch code {
	case DuplicateRule, EquivalentRule, CoveredRule: // Long files have many of these.
		s.addOncePerFile(code, line, format, args...)
	default:
		s.addValueFinding(code, line, format, args...)
	}
}

// checkRuleSet adds findings about equal and opposite rules, and then about rules without effect.
func (s *ruleSet) checkRuleSet() {
	type kind struct {
		allow     bool
		canonical string
	}
	first := make(map[kind]policy.Rule)
	for _, r := range s.rules {
		canonical := r.CanonicalPath()
		if canonical == "" {
			continue
		}
		k := kind{r.Allow, canonical}
		same, ok := first[k]
		if !ok {
			first[k] = r
		}
		other, tied := first[kind{!r.Allow, canonical}]
		switch {
		case ok && same.Path == r.Path:
			s.addFinding(DuplicateRule, r.Line, "line %d has the same rule; remove one of the lines", same.Line)
		case ok:
			s.addFinding(EquivalentRule, r.Line, "line %d has the same rule in another spelling, because both mean %s; remove one of the lines", same.Line, quoteExcerpt(canonical))
		case tied:
			s.addFinding(EqualAllowAndDisallow, r.Line, "line %d has the opposite rule for the same path, and Allow wins; remove one of the lines", other.Line)
			s.reportedLines[other.Line] = true
		}
	}
	if s.unusedByte = s.findUnusedByte(); s.unusedByte == "" {
		return
	}
	for _, r := range s.rules {
		if canonical := r.CanonicalPath(); canonical != "" && !s.reportedLines[r.Line] {
			s.checkRule(r, canonical)
		}
	}
}

// literalBytes are bytes that have no special meaning in the canonical form of a rule or a target.
// Letters that are rare in paths come first.
const literalBytes = "QZXJKVWYABCDEFGHILMNOPRSTUqzxjkvwyabcdefghilmnoprstu0123456789~_!'(),;:@"

// findUnusedByte returns a literal byte that no rule of the set contains, or "" if there is none.
func (s *ruleSet) findUnusedByte() string {
	var used [256]bool
	for _, r := range s.rules {
		for _, c := range []byte(r.CanonicalPath()) {
			used[c] = true
		}
	}
	for i := range len(literalBytes) {
		if !used[literalBytes[i]] {
			return literalBytes[i : i+1]
		}
	}
	return ""
}

// checkRule checks a rule with a target made by replacing each wildcard with a byte that no rule
// contains. In another rule, only a wildcard or the end of a prefix matches this byte. Such a rule
// therefore matches every target of the checked rule, and the winning rule wins for all targets.
func (s *ruleSet) checkRule(r policy.Rule, canonical string) {
	probe, anchored := strings.CutSuffix(canonical, "$")
	probe = strings.ReplaceAll(probe, "*", s.unusedByte)
	if !anchored {
		probe += s.unusedByte
	}
	if !strings.HasPrefix(probe, "/") {
		probe = "/" + probe
	}
	v := s.selection.Judge(probe)
	switch {
	case v.Ambiguous || s.group.Judge(probe).Ambiguous:
	case v.Allowed && !r.Allow && len(s.rules) <= maxCoveringCandidates && s.ruleMatches(r, probe):
		s.addFinding(RuleWithoutEffect, r.Line, "%s in line %d allows all URLs of this rule and is not shorter, so this rule disallows nothing; shorten or remove the Allow rule, or make this rule longer than %d bytes",
			quoteExcerpt(v.Rule.String()), v.Rule.Line, len(v.Rule.CanonicalPath()))
	case v.Allowed != r.Allow && len(s.rules) <= maxCoveringCandidates && s.ruleMatches(r, probe):
		s.addFinding(RuleWithoutEffect, r.Line, "%s in line %d matches all URLs of this rule and is not shorter, so this rule has no effect; remove or lengthen this rule",
			quoteExcerpt(v.Rule.String()), v.Rule.Line)
	case v.Allowed != r.Allow: // The rule does not match probe, or the comparison exceeds a limit.
	case !r.Allow && len(s.rules) <= maxCoveringCandidates:
		if by := s.findCoveringRule(r, probe); by.Line > 0 {
			s.addFinding(CoveredRule, r.Line, "%s in line %d already disallows all URLs of this rule; remove this rule, unless it is for crawlers that do not support wildcards",
				quoteExcerpt(by.String()), by.Line)
		}
	case r.Allow:
		s.checkIndexPage(r, canonical)
	}
}

// matchingRules returns the rules that match a target, the longest rule first. After a hostile
// file has used up maxComparisonWork, the result is empty.
func (s *ruleSet) matchingRules(target string) []policy.Match {
	if s.remainingWork -= s.comparisonCost; s.remainingWork < 0 {
		return nil
	}
	var t policy.Target
	t.Set(target, false)
	return s.selection.MatchingRules(&t)
}

// ruleMatches reports whether a rule matches a target.
func (s *ruleSet) ruleMatches(r policy.Rule, target string) bool {
	return slices.ContainsFunc(s.matchingRules(target), func(m policy.Match) bool { return m.Rule == r })
}

// findCoveringRule returns a shorter Disallow rule that matches all URLs of r, so that r has no
// effect. An Allow rule with a length between the two must not match any of these URLs.
func (s *ruleSet) findCoveringRule(r policy.Rule, probe string) policy.Rule {
	canonical := r.CanonicalPath()
	for _, m := range s.matchingRules(probe) {
		if m.Rule.Allow || m.Rule == r || m.Length >= len(canonical) {
			continue
		}
		for _, a := range s.rules {
			n := len(a.CanonicalPath())
			if a.Allow && n >= m.Length && n < len(canonical) && mayOverlap(a.CanonicalPath(), canonical) {
				return policy.Rule{}
			}
		}
		return m.Rule
	}
	return policy.Rule{}
}

// mayOverlap reports whether two canonical rules may match a common target. It compares only the
// parts before the first wildcards, so it may be wrongly true.
func mayOverlap(a, b string) bool {
	prefix := func(s string) string {
		if i := strings.IndexAny(s, "*$"); i >= 0 {
			return s[:i]
		}
		return s
	}
	a, b = prefix(a), prefix(b)
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}

// checkIndexPage adds a finding for an Allow rule about an index page, because for Google the rule
// also allows the otherwise disallowed directory.
func (s *ruleSet) checkIndexPage(r policy.Rule, canonical string) {
	i := strings.LastIndexByte(canonical, '/')
	if i < 0 || !strings.HasPrefix(canonical[i:], "/index.htm") || strings.Contains(canonical[:i], "*") {
		return
	}
	directory := canonical[:i+1]
	if v := s.selection.Judge(directory); !v.Allowed || v.Rule != r {
		return
	}
	for _, m := range s.matchingRules(directory) {
		if !m.Rule.Allow {
			s.addFinding(AllowedIndexPage, r.Line, "for Google this rule also allows the directory %s, which %s in line %d disallows for other crawlers; add \"Allow: %s$\" if all crawlers may fetch the directory",
				quoteExcerpt(directory), quoteExcerpt(m.Rule.String()), m.Rule.Line, directory)
			return
		}
	}
}

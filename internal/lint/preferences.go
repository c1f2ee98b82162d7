package lint

import (
	"slices"
	"strings"

	"github.com/dunglas/httpsfv"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// checkPreferences adds findings about preferences for the use of content. Preferences are in
// Content-Usage lines (draft-ietf-aipref-attach-05, draft-ietf-aipref-vocab-08), in Content-Signal
// lines (contentsignals.org), and in the groups of [policy.TrainingToken] and of control tokens
// such as Google-Extended.
func (c *checker) checkPreferences() {
	for _, r := range c.robots.Records() {
		switch {
		case r.Group < 0:
		case strings.EqualFold(r.Key, policy.ContentUsage):
			c.checkContentUsage(r)
		case strings.EqualFold(r.Key, policy.ContentSignal):
			c.checkContentSignal(r)
		}
	}
	targets := c.preferenceTargets()
	c.checkContradictions(targets)
	c.checkLostPreferences(targets)
	c.checkTrainingCrawlers()
}

// checkContentUsage adds findings about the syntax and the effect of a Content-Usage line.
func (c *checker) checkContentUsage(r policy.Record) {
	path, dictionary := policy.SplitUsagePath(r.Value)
	_, err := policy.ParsePreferences(dictionary)
	first, _, more := strings.Cut(dictionary, " ")
	switch {
	case dictionary == "" && path == "":
		c.addValueFinding(InvalidUsage, r.Line, "the line has no preference; write a preference, for example train-ai=n")
		return
	case dictionary == "":
		c.addValueFinding(InvalidUsage, r.Line, "the line has no preference for %s; write a preference after the path, for example train-ai=n", quoteExcerpt(path))
		return
	case more && !strings.ContainsAny(first, ",=;"):
		c.addValueFinding(RelativeUsagePath, r.Line, "the path %s does not begin with /, so the line has no effect; write the path from the root of the site", quoteExcerpt(first))
		return
	case err != nil:
		c.addValueFinding(InvalidUsage, r.Line, "%s is not a dictionary of RFC 9651, so the line has no effect; write it as train-ai=n, search=y, in lower case", quoteExcerpt(dictionary))
		return
	}
	c.checkPreferenceLabels(r.Line, dictionary)
	if rule := c.findPrefixRule(r.Group, path); rule.Line > 0 {
		c.addValueFinding(UsageOfDisallowedPath, r.Line, "line %d disallows this path, so a preference about its use has no effect; remove one of the lines", rule.Line)
	}
}

// checkPreferenceLabels adds findings about the labels and values of preferences, such as
// train-ai=n, in a Content-Usage line.
func (c *checker) checkPreferenceLabels(line int, dictionary string) {
	members, err := httpsfv.UnmarshalDictionary([]string{dictionary})
	if err != nil {
		return
	}
	for _, label := range members.Names() {
		member, _ := members.Get(label)
		item, isItem := member.(httpsfv.Item)
		isKnown := slices.ContainsFunc(policy.AllUses(), func(u policy.Use) bool { return u.String() == label })
		switch draft := policy.FormerLabelDraft(label); {
		case draft != "":
			c.addValueFinding(UnknownUsageLabel, line, "%s is a label from %s; the current labels are train-ai, ai-use and search", quoteExcerpt(label), draft)
		case !isKnown:
			c.addValueFinding(UnknownUsageLabel, line, "%s is not a label of draft-ietf-aipref-vocab-08, so crawlers ignore it; the labels are train-ai, ai-use and search", quoteExcerpt(label))
		case !isItem || item.Value != httpsfv.Token("y") && item.Value != httpsfv.Token("n"):
			c.addValueFinding(InvalidUsage, line, "the value of %s is not y or n, so the line has no such preference; write y or n", label)
		}
	}
}

// checkContentSignal adds a finding if the value of a Content-Signal line is invalid. The value is
// an optional path and a list of signals. The signals search, ai-input and ai-train must be yes or
// no.
func (c *checker) checkContentSignal(r policy.Record) {
	_, value := policy.SplitUsagePath(r.Value)
	for part := range strings.SplitSeq(value, ",") {
		name, says, ok := strings.Cut(strings.ToLower(strings.TrimSpace(part)), "=")
		name, says = strings.TrimSpace(name), strings.TrimSpace(says)
		known := slices.ContainsFunc(policy.AllUses(), func(u policy.Use) bool { return u.SignalLabel() == name })
		if !ok || known && says != "yes" && says != "no" {
			c.addValueFinding(InvalidSignal, r.Line, "%s is not a valid signal; write search, ai-input or ai-train, followed by =yes or =no", quoteExcerpt(strings.TrimSpace(part)))
			return
		}
	}
}

// findPrefixRule returns a rule of the group that disallows all URLs with this prefix. Without such
// a rule it returns the zero Rule.
func (c *checker) findPrefixRule(group int, path string) policy.Rule {
	const most = 100 // This is a number of rules. The function runs for each line.
	rules := c.groups[group].Rules
	prefix := policy.Rule{Path: path}.CanonicalPath()
	if prefix == "" {
		prefix = "/"
	}
	if len(rules) > most || strings.ContainsAny(prefix, "*$") || slices.ContainsFunc(rules, func(r policy.Rule) bool { return r.Allow }) {
		return policy.Rule{}
	}
	for _, r := range rules {
		if pattern := strings.TrimRight(r.CanonicalPath(), "*"); r.CanonicalPath() != "" && strings.HasPrefix(prefix, pattern) {
			return r
		}
	}
	return policy.Rule{}
}

// groupFor returns the group that applies to a registered crawler.
func (c *checker) groupFor(crawler *uaident.Crawler) *policy.SelectedGroup {
	return c.robots.Select(crawler.WildcardApplies(), slices.Concat([]string{crawler.Token}, crawler.Aliases, crawler.Fallback)...)
}

// checkTrainingCrawlers adds a finding if a training crawler may fetch the site although the file
// states train-ai=n. That preference disallows no URL.
func (c *checker) checkTrainingCrawlers() {
	var t policy.Target
	t.Set(unmatchedPath, false)
	var names []string
	line := 0
	for _, crawler := range uaident.Default().Crawlers() {
		if crawler.Class != uaident.AITraining || len(names) == 3 {
			continue
		}
		s := c.groupFor(&crawler)
		if crawler.RobotsOnly || c.robots.Preferences(s, &t, "")[policy.TrainAI] != policy.PreferenceNo || !s.JudgeTarget(&t).Allowed {
			continue
		}
		if lines := c.robots.DecidingStatements(s, &t, ""); line == 0 && len(lines) > 0 {
			line = lines[0].Line
		}
		names = append(names, crawler.Token)
	}
	if len(names) > 0 {
		c.addValueFinding(TrainingCrawlersAllowed, line, "train-ai=n does not block fetching; training crawlers, for example %s, may fetch the site; to prevent that, disallow the site for them", strings.Join(names, ", "))
	}
}

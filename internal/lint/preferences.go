package lint

import (
	"slices"
	"strings"

	"github.com/dunglas/httpsfv"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// checkPreferences checks the preferences about the use of content. Sources are Content-Usage
// (draft-ietf-aipref-attach-05, draft-ietf-aipref-vocab-08), Content-Signal (contentsignals.org),
// and the rules of [policy.TrainingToken] and of control tokens.
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
	targets := c.statedTargets()
	c.checkContradictions(targets)
	c.checkLostPreferences(targets)
	c.checkTrainers()
}

// checkContentUsage checks a Content-Usage line.
func (c *checker) checkContentUsage(r policy.Record) {
	path, dictionary := policy.SplitUsagePath(r.Value)
	_, err := policy.ParsePreferences(dictionary)
	first, _, more := strings.Cut(dictionary, " ")
	switch {
	case dictionary == "" && path == "":
		c.addValue(UsageValue, r.Line, "the line has no preference; write a preference, for example train-ai=n")
		return
	case dictionary == "":
		c.addValue(UsageValue, r.Line, "the line has no preference for %s; write a preference after the path, for example train-ai=n", quoteExcerpt(path))
		return
	case more && !strings.ContainsAny(first, ",=;"):
		c.addValue(UsagePath, r.Line, "the path %s does not begin with /, so the line has no effect; write it from the root of the site", quoteExcerpt(first))
		return
	case err != nil:
		c.addValue(UsageValue, r.Line, "%s is not a dictionary of RFC 9651, so the line has no effect; write it as train-ai=n, search=y, in lower case", quoteExcerpt(dictionary))
		return
	}
	c.checkMembers(r.Line, dictionary)
	if v := c.prefixVerdict(r.Group, path); v.Rule.Line > 0 {
		c.addValue(UsageForbidden, r.Line, "line %d disallows this path, so a preference about its use has no effect; remove one of the lines", v.Rule.Line)
	}
}

// checkMembers checks the keys and values of a dictionary.
func (c *checker) checkMembers(line int, dictionary string) {
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
			c.addValue(UsageLabel, line, "%s is a label from %s; the current labels are train-ai, ai-use and search", quoteExcerpt(label), draft)
		case !isKnown:
			c.addValue(UsageLabel, line, "%s is not a label of draft-ietf-aipref-vocab-08, so crawlers ignore it; the labels are train-ai, ai-use and search", quoteExcerpt(label))
		case !isItem || item.Value != httpsfv.Token("y") && item.Value != httpsfv.Token("n"):
			c.addValue(UsageValue, line, "the value of %s is not y or n, so the preference is unknown", label)
		}
	}
}

// checkContentSignal checks the value of Content-Signal, a list of signals after an optional path. The
// values of search, ai-input and ai-train are yes or no.
func (c *checker) checkContentSignal(r policy.Record) {
	_, value := policy.SplitUsagePath(r.Value)
	for part := range strings.SplitSeq(value, ",") {
		name, says, ok := strings.Cut(strings.ToLower(strings.TrimSpace(part)), "=")
		name, says = strings.TrimSpace(name), strings.TrimSpace(says)
		known := slices.ContainsFunc(policy.AllUses(), func(u policy.Use) bool { return u.SignalLabel() == name })
		if !ok || known && says != "yes" && says != "no" {
			c.addValue(SignalValue, r.Line, "%s is not one of search, ai-input and ai-train with =yes or =no", quoteExcerpt(strings.TrimSpace(part)))
			return
		}
	}
}

// prefixVerdict returns a group's verdict if all URLs with this prefix are disallowed. Otherwise it
// returns the zero verdict.
func (c *checker) prefixVerdict(group int, path string) (v policy.Verdict) {
	const most = 100 // rules; this function runs for each line
	rules := c.groups[group].Rules
	prefix := policy.Rule{Path: path}.CanonicalPath()
	if prefix == "" {
		prefix = "/"
	}
	if len(rules) > most || strings.ContainsAny(prefix, "*$") || slices.ContainsFunc(rules, func(r policy.Rule) bool { return r.Allow }) {
		return v
	}
	for _, r := range rules {
		if pattern := strings.TrimRight(r.CanonicalPath(), "*"); r.CanonicalPath() != "" && strings.HasPrefix(prefix, pattern) {
			v.Rule = r
			return v
		}
	}
	return v
}

// groupOf returns the group of a known crawler.
func (c *checker) groupOf(crawler *uaident.Crawler) *policy.SelectedGroup {
	return c.robots.Select(crawler.WildcardApplies(), slices.Concat([]string{crawler.Token}, crawler.Aliases, crawler.Fallback)...)
}

// checkTrainers checks whether training crawlers may fetch everything despite train-ai=n, which
// disallows no URL.
func (c *checker) checkTrainers() {
	var t policy.Target
	t.Set(unmatchedPath, false)
	var names []string
	line := 0
	for _, crawler := range uaident.Default().Crawlers() {
		if crawler.Class != uaident.AITraining || len(names) == 3 {
			continue
		}
		s := c.groupOf(&crawler)
		if crawler.RobotsOnly || c.robots.Preferences(s, &t, "")[policy.TrainAI] != policy.PreferenceNo || !s.JudgeTarget(&t).Allowed {
			continue
		}
		if lines := c.robots.DecidingStatements(s, &t, ""); line == 0 && len(lines) > 0 {
			line = lines[0].Line
		}
		names = append(names, crawler.Token)
	}
	if len(names) > 0 {
		c.addValue(TrainersAllowed, line, "train-ai=n does not block fetching; training crawlers, for example %s, may fetch the site; to prevent that, disallow it to them", strings.Join(names, ", "))
	}
}

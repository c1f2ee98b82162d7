package alert

import (
	"cmp"
	"fmt"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// findInTexts examines the managed robots.txt files. texts can be nil.
func findInTexts(texts report.Texts, now time.Time) (found []finding) {
	if texts == nil {
		return nil
	}
	files := make(map[string]bool) // one file can be the base of many hosts
	for _, s := range texts.Sites(now) {
		if s.Base.Failure != "" && !files[s.Base.File] {
			files[s.Base.File] = s.Base.File != ""
			found = append(found, baseFailing(&s))
		}
		if s.Refused != nil {
			found = append(found, refused(&s))
		}
	}
	return found
}

func baseFailing(s *report.ManagedSite) finding {
	what := cmp.Or(text.Printable(s.Base.File), "The site's own robots.txt")
	meanwhile := "No good copy is stored, so the site's own answer is served without your rules."
	if s.Version != "" {
		meanwhile = "The last good one is used, with your rules."
	}
	return finding{after: unreachableAfter, Alert: Alert{
		ID: idOf(BaseFailing, cmp.Or(s.Base.File, s.Host)), Kind: BaseFailing, Severity: Warning, Site: s.Host, Since: s.Base.FailingSince,
		Title:  "The base of the robots.txt of " + nameOf(s) + " cannot be read",
		Detail: fmt.Sprintf("%s: %s. %s", what, text.Printable(s.Base.Failure), meanwhile),
		Do:     "See why it is not served. If the site has no robots.txt of its own, write base none.",
		Copy:   "caddy robots-guard managed show " + quotedWord(s.Host),
	}}
}

func refused(s *report.ManagedSite) finding {
	meanwhile := "The site's own answer is served without your rules."
	if s.Version != "" {
		meanwhile = "The previous file stays in force, version " + s.Version + "."
	}
	return finding{Alert: Alert{
		ID: idOf(TextRefused, s.Host, s.Refused.Why), Kind: TextRefused, Severity: Warning, Site: s.Host, Since: s.Refused.Since,
		Title:  "A robots.txt of " + nameOf(s) + " is refused",
		Detail: sentence(text.Cut(text.Printable(s.Refused.Why), maxError)) + " " + meanwhile,
		Do:     "Correct the rule or robots.txt named above. If it is intended, change the option gate.",
		Copy:   "caddy robots-guard managed show " + quotedWord(s.Host),
	}}
}

func nameOf(s *report.ManagedSite) string { return cmp.Or(text.Printable(s.Host), "any host") }

package alert

import (
	"cmp"
	"fmt"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// findInManaged examines the managed robots.txt files. texts can be nil.
func findInManaged(texts report.Texts, now time.Time) (found []finding) {
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
			found = append(found, refusedFile(&s))
		}
	}
	return found
}

func baseFailing(s *report.ManagedSite) finding {
	source := cmp.Or(text.Printable(s.Base.File), "The site's own robots.txt")
	consequence := "No good copy is stored, so the site's own answer is served without your rules."
	if s.Version != "" {
		consequence = "The last good one is used, with your rules."
	}
	return finding{minDuration: minUnreachableTime, Alert: Alert{
		ID: newID(BaseFailing, cmp.Or(s.Base.File, s.Host)), Kind: BaseFailing, Severity: Warning, Site: s.Host, Since: s.Base.FailingSince,
		Title:         "The base of the robots.txt of " + hostName(s) + " cannot be read",
		Detail:        fmt.Sprintf("%s: %s. %s", source, text.Printable(s.Base.Failure), consequence),
		Remedy:        "See why it is not served. If the site has no robots.txt of its own, write base none.",
		RemedySnippet: "caddy robots-guard managed show " + shellQuote(s.Host),
	}}
}

func refusedFile(s *report.ManagedSite) finding {
	consequence := "The site's own answer is served without your rules."
	if s.Version != "" {
		consequence = "The previous file stays in force, version " + s.Version + "."
	}
	return finding{Alert: Alert{
		ID: newID(ManagedFileRefused, s.Host, s.Refused.Why), Kind: ManagedFileRefused, Severity: Warning, Site: s.Host, Since: s.Refused.Since,
		Title:         "A robots.txt of " + hostName(s) + " is refused",
		Detail:        toSentence(text.Truncate(text.Printable(s.Refused.Why), maxErrorBytes)) + " " + consequence,
		Remedy:        "Correct the rule or robots.txt named above. If it is intended, change the option gate.",
		RemedySnippet: "caddy robots-guard managed show " + shellQuote(s.Host),
	}}
}

func hostName(s *report.ManagedSite) string { return cmp.Or(text.Printable(s.Host), "any host") }

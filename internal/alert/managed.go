package alert

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// maxReasons is the maximum number of reasons in an alert.
const maxReasons = 3

// managedAlerts returns the alerts about files that robots_txt serves. texts is nil without
// robots_txt.
func managedAlerts(texts report.ManagedFiles, now time.Time) (found []Alert) {
	if texts == nil {
		return nil
	}
	files := make(map[string]bool) // One file can be the base of many hosts.
	for _, s := range texts.Sites(now) {
		if s.Base.Failure != "" && !files[s.Base.File] {
			files[s.Base.File] = s.Base.File != ""
			found = append(found, baseFailureAlert(&s))
		}
		if s.Refused != nil {
			found = append(found, refusedFileAlert(&s))
		}
	}
	return found
}

func baseFailureAlert(s *report.ManagedSite) Alert {
	source := cmp.Or(text.Printable(s.Base.File), "The site's own robots.txt")
	consequence := "No earlier good copy is stored, so the site's own robots.txt is served without your rules."
	if s.Version != "" {
		consequence = "The last good copy is used, with your rules."
	}
	return Alert{
		ID: newID(BaseFailing, cmp.Or(s.Base.File, s.Host)), Kind: BaseFailing, Severity: Warning, Site: s.Host, Since: s.Base.FailingSince,
		Title:         "The robots.txt to which robots_txt adds rules at " + hostName(s) + " cannot be read",
		Detail:        fmt.Sprintf("%s: %s. %s", source, text.Printable(s.Base.Failure), consequence),
		Remedy:        "Find out why it is not served. If the site has no robots.txt of its own, write base none into robots_txt.",
		RemedySnippet: "caddy robots-guard managed show " + shellQuote(s.Host),
	}
}

func refusedFileAlert(s *report.ManagedSite) Alert {
	consequence := "The site's own robots.txt is served without your rules."
	if s.Version != "" {
		consequence = "The previous file stays in force, version " + s.Version + "."
	}
	return Alert{
		ID: newID(ManagedFileRefused, s.Host, s.Refused.Reason), Kind: ManagedFileRefused, Severity: Warning, Site: s.Host, Since: s.Refused.Since,
		Title:         "A robots.txt of " + hostName(s) + " is refused",
		Detail:        formatSentence(s.Refused.Reason) + " " + consequence,
		Remedy:        "Correct the rule or robots.txt named above. If you want this rule, change the option gate.",
		RemedySnippet: "caddy robots-guard managed show " + shellQuote(s.Host),
	}
}

func hostName(s *report.ManagedSite) string { return cmp.Or(text.Printable(s.Host), "any host") }

// changeAlerts returns the alerts about changes of files that robots_txt serves. sites has the
// changes by site. Only the latest change of a site can cause an alert.
func changeAlerts(sites map[string][]report.ManagedChange, now time.Time) (found []Alert) {
	for _, site := range slices.Sorted(maps.Keys(sites)) {
		if len(sites[site]) == 0 {
			continue
		}
		switch latest := slices.MaxFunc(sites[site], func(a, b report.ManagedChange) int { return a.Number - b.Number }); {
		case latest.State == report.ChangeWaiting:
			found = append(found, waitingChangeAlert(site, &latest))
		case latest.StopReason != "" && now.Sub(latest.Since) < endedRetention:
			found = append(found, stoppedChangeAlert(site, &latest))
		}
	}
	return found
}

func waitingChangeAlert(site string, change *report.ManagedChange) Alert {
	reasons := formatSentence(strings.Join(change.Reasons[:min(len(change.Reasons), maxReasons)], "; "))
	return Alert{
		ID: newID(ChangeUnconfirmed, site, change.ID), Kind: ChangeUnconfirmed, Severity: Warning, Site: site, Since: change.Since,
		Title:         "A change of the robots.txt of " + text.Printable(site) + " waits for confirmation",
		Detail:        strings.TrimSpace(reasons + " Until then the previous file stays in force."),
		Remedy:        "If you want the change, confirm it with this command. Otherwise undo it in the configuration.",
		RemedySnippet: "caddy robots-guard managed confirm --site " + shellQuote(site) + ` --why "..."`,
	}
}

func stoppedChangeAlert(site string, change *report.ManagedChange) Alert {
	return Alert{
		ID: newID(ChangeStopped, site, change.ID), Kind: ChangeStopped, Severity: Warning, Site: site, Since: change.Since,
		Title:         "A change of the robots.txt of " + text.Printable(site) + " was rejected by its trial",
		Detail:        formatSentence(change.StopReason) + " The previous file stays in force.",
		Remedy:        "Correct the rules. If they are intended, set the option \"rollout now\", reload, and confirm the change.",
		RemedySnippet: "caddy robots-guard managed history --site " + shellQuote(site),
	}
}

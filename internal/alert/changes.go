package alert

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// maxReasons is the maximum number of reasons in an alert.
const maxReasons = 3

// findInChanges returns findings about changes of managed robots.txt files by site. A
// rejected change matters only until the next change.
func findInChanges(sites map[string][]report.ManagedChange, now time.Time) (found []finding) {
	for _, site := range slices.Sorted(maps.Keys(sites)) {
		if len(sites[site]) == 0 {
			continue
		}
		switch latest := slices.MaxFunc(sites[site], func(a, b report.ManagedChange) int { return a.Number - b.Number }); {
		case latest.State == report.ChangeWaiting:
			found = append(found, waitingChange(site, &latest))
		case latest.Stopped != "" && now.Sub(latest.Since) < overRetention:
			found = append(found, stoppedChange(site, &latest))
		}
	}
	return found
}

func waitingChange(site string, change *report.ManagedChange) finding {
	return finding{Alert: Alert{
		ID: newID(ChangeUnconfirmed, site, change.ID), Kind: ChangeUnconfirmed, Severity: Warning, Site: site, Since: change.Since,
		Title:         "A change of the robots.txt of " + text.Printable(site) + " waits for confirmation",
		Detail:        joinSentence(change.Reasons) + "Until then the previous file stays in force.",
		Remedy:        "If the change is intended, confirm it; otherwise remove it from the configuration.",
		RemedySnippet: "caddy robots-guard managed confirm --site " + shellQuote(site) + ` --why "..."`,
	}}
}

func stoppedChange(site string, change *report.ManagedChange) finding {
	return finding{Alert: Alert{
		ID: newID(ChangeStopped, site, change.ID), Kind: ChangeStopped, Severity: Warning, Site: site, Since: change.Since,
		Title:         "The trial of a change of the robots.txt of " + text.Printable(site) + " has ended by itself",
		Detail:        joinSentence([]string{change.Stopped}) + "The previous file stays in force.",
		Remedy:        "Change the rules. If they are intended, load them with rollout now and confirm them.",
		RemedySnippet: "caddy robots-guard managed history --site " + shellQuote(site),
	}}
}

// joinSentence joins lines to a sentence followed by a space, or returns "".
func joinSentence(lines []string) string {
	var printable []string
	for _, line := range lines[:min(len(lines), maxReasons)] {
		if line != "" {
			printable = append(printable, text.Truncate(text.Printable(line), maxErrorBytes))
		}
	}
	if len(printable) == 0 {
		return ""
	}
	return toSentence(strings.Join(printable, "; ")) + " "
}

package alert

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// toldReasons is how many reasons an alert has.
const toldReasons = 3

// findInChanges returns findings about changes of managed robots.txt files by site. A
// rejected change matters only until the next change.
func findInChanges(sites map[string][]report.ManagedChange, now time.Time) (found []finding) {
	for _, site := range slices.Sorted(maps.Keys(sites)) {
		if len(sites[site]) == 0 {
			continue
		}
		switch latest := slices.MaxFunc(sites[site], func(a, b report.ManagedChange) int { return a.Number - b.Number }); {
		case latest.State == report.ChangeWaiting:
			found = append(found, changeWaits(site, &latest))
		case latest.Stopped != "" && now.Sub(latest.Since) < showOver:
			found = append(found, changeStopped(site, &latest))
		}
	}
	return found
}

func changeWaits(site string, c *report.ManagedChange) finding {
	return finding{Alert: Alert{
		ID: idOf(ChangeWaits, site, c.ID), Kind: ChangeWaits, Severity: Warning, Site: site, Since: c.Since,
		Title:  "A change of the robots.txt of " + text.Printable(site) + " waits for confirmation",
		Detail: told(c.Reasons) + "Until then the previous file stays in force.",
		Do:     "If the change is intended, confirm it; otherwise remove it from the configuration.",
		Copy:   "caddy robots-guard managed confirm --site " + quotedWord(site) + ` --why "..."`,
	}}
}

func changeStopped(site string, c *report.ManagedChange) finding {
	return finding{Alert: Alert{
		ID: idOf(ChangeStopped, site, c.ID), Kind: ChangeStopped, Severity: Warning, Site: site, Since: c.Since,
		Title:  "The trial of a change of the robots.txt of " + text.Printable(site) + " has ended by itself",
		Detail: told([]string{c.Stopped}) + "The previous file stays in force.",
		Do:     "Change the rules. If they are intended, load them with rollout now and confirm them.",
		Copy:   "caddy robots-guard managed history --site " + quotedWord(site),
	}}
}

// told joins lines to a sentence followed by a space, or returns "".
func told(lines []string) string {
	var some []string
	for _, line := range lines[:min(len(lines), toldReasons)] {
		if line != "" {
			some = append(some, text.Cut(text.Printable(line), maxError))
		}
	}
	if len(some) == 0 {
		return ""
	}
	return sentence(strings.Join(some, "; ")) + " "
}

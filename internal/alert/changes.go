package alert

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// toldReasons is how many reasons an alert has.
const toldReasons = 3

// findInChanges looks at what becomes of the changes of robots_txt, by site.
func findInChanges(sites map[string]publish.State, now time.Time) (found []finding) {
	for _, site := range slices.Sorted(maps.Keys(sites)) {
		state := sites[site]
		if c := state.Candidate; c != nil {
			if c.Stage == publish.Confirmation {
				found = append(found, changeWaits(site, c))
			}
			continue // what was stopped before is of no interest any more
		}
		last := state.Last()
		if last != nil && last.StoppedByTrial() && now.Sub(last.Ended.At) < showOver {
			found = append(found, changeStopped(site, last))
		}
	}
	return found
}

func changeWaits(site string, c *publish.Candidate) finding {
	return finding{Alert: Alert{
		ID: idOf(ChangeWaits, site, c.ID), Kind: ChangeWaits, Severity: Warning, Site: site, Since: c.Since,
		Title:  "A change of the robots.txt of " + text.Printable(site) + " waits for confirmation",
		Detail: told(c.Reasons) + "Until then what was published before stays.",
		Do:     "Confirm it if that is meant, or take it out of the configuration.",
		Copy:   "caddy robots-guard managed confirm --site " + quotedWord(site) + ` --why "..."`,
	}}
}

func changeStopped(site string, c *publish.Change) finding {
	return finding{Alert: Alert{
		ID: idOf(ChangeStopped, site, c.ID), Kind: ChangeStopped, Severity: Warning, Site: site, Since: c.Ended.At,
		Title:  "The trial of a change of the robots.txt of " + text.Printable(site) + " has ended by itself",
		Detail: told([]string{c.Ended.Why}) + "What was published before stays.",
		Do:     "Change the rules, or load them with rollout now and confirm them if that is meant.",
		Copy:   "caddy robots-guard managed history --site " + quotedWord(site),
	}}
}

// told puts some lines into a sentence with a blank behind it, "" for none.
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

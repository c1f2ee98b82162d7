package explain

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Preferences are the preferences that the file states for the use of a page. They do not affect
// the verdict.
type Preferences struct {
	Combined   string      `json:"stated"` // Combined is for example "train-ai=n, search=y".
	Statements []Statement `json:"by"`     // Statements are the lines with the preferences.
}

// Statement is a line of the file that states a preference.
type Statement struct {
	// Origin is Content-Usage, Content-Signal, or the name of the group whose rule states the
	// preference.
	Origin      string `json:"by"`
	Preferences string `json:"stated"`
	Line        int    `json:"line"`
}

// describePreferences returns the preferences for an allowed page and their lines, or nil if the
// file states none. control is the control token of the crawler's operator, such as
// Google-Extended, or "".
func describePreferences(robots *policy.Robots, s *policy.SelectedGroup, t *policy.Target, control string) *Preferences {
	stated := robots.Preferences(s, t, control)
	if stated == (policy.Preferences{}) {
		return nil
	}
	p := &Preferences{Combined: stated.String(), Statements: []Statement{}}
	lines := robots.DecidingStatements(s, t, control)
	for _, line := range lines[:min(len(lines), maxMatches)] {
		p.Statements = append(p.Statements, Statement{line.Source, line.Preferences.String(), line.Line})
	}
	return p
}

// printPreferences prints the preferences and their lines, unless they are nil.
func (p *printer) printPreferences(stated *Preferences) {
	if stated == nil {
		return
	}
	p.printHeading("Preferences")
	var by []string
	for rest := stated.Statements; len(rest) > 0; {
		var at []int
		kind := rest[0].Origin
		for ; len(rest) > 0 && rest[0].Origin == kind; rest = rest[1:] {
			at = append(at, rest[0].Line)
		}
		by = append(by, kind+" in "+formatLineNumbers(at))
	}
	p.printLine("%s, by %s: a preference about use, not a rule for fetching", stated.Combined, strings.Join(by, ", "))
}

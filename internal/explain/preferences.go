package explain

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Preferences is what the file states about the use of what is fetched. It decides nothing
// about fetching.
type Preferences struct {
	Stated string      `json:"stated"` // such as "train-ai=n, search=y"
	By     []Statement `json:"by"`     // the lines that state it
}

// Statement is a line that states a preference.
type Statement struct {
	// By is Content-Usage, Content-Signal, or the name of the group that the rule is in.
	By     string `json:"by"`
	Stated string `json:"stated"`
	Line   int    `json:"line"`
}

// preferencesOf returns what is stated for a target that may be fetched, nil for
// nothing.
func preferencesOf(robots *policy.Robots, s *policy.Selection, t *policy.Target, control string) *Preferences {
	stated := robots.Preferences(s, t, control)
	if stated == (policy.Preferences{}) {
		return nil
	}
	p := &Preferences{Stated: stated.String(), By: []Statement{}}
	lines := robots.Stated(s, t, control)
	for _, line := range lines[:min(len(lines), maxMatches)] {
		p.By = append(p.By, Statement{line.By, line.Preferences.String(), line.Line})
	}
	return p
}

// preferences prints what the file states.
func (p *printer) preferences(stated *Preferences) {
	if stated == nil {
		return
	}
	p.heading("Use")
	var by []string
	for rest := stated.By; len(rest) > 0; {
		var at []int
		kind := rest[0].By
		for ; len(rest) > 0 && rest[0].By == kind; rest = rest[1:] {
			at = append(at, rest[0].Line)
		}
		by = append(by, kind+" in "+lines(at))
	}
	p.line("%s, by %s: a preference about use, not a rule for fetching", stated.Stated, strings.Join(by, ", "))
}

package explain

import (
	"fmt"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Preferences is what the group states about the use of what is fetched
// (draft-ietf-aipref-attach-05). It decides nothing about fetching.
type Preferences struct {
	Stated string `json:"stated"` // such as "train-ai=n, search=y"
	Lines  []int  `json:"lines"`  // the Content-Usage lines that state it
	// Held says that `usage enforce` holds the crawler to it, once that has read it.
	Held bool `json:"held"`
}

// preferencesOf returns what is stated for a target that may be fetched, nil for
// nothing.
func preferencesOf(s *policy.Selection, t *policy.Target) *Preferences {
	stated := s.TargetPreferences(t)
	if stated == (policy.Preferences{}) {
		return nil
	}
	p := &Preferences{Stated: stated.String(), Lines: []int{}}
	_, deciding := s.Statements(t)
	for _, line := range deciding[:min(len(deciding), maxMatches)] {
		p.Lines = append(p.Lines, line.Line)
	}
	return p
}

// preferences prints what the group states.
func (p *printer) preferences(stated *Preferences) {
	if stated == nil {
		return
	}
	p.heading("Use")
	p.line("%s, by Content-Usage in %s: what the owner prefers, which decides nothing about fetching", stated.Stated, lines(stated.Lines))
	if stated.Held {
		p.line("the crawler does nothing but train models, so usage enforce of robots_guard holds it to that, once it has read it")
	}
}

// hold holds a request that is allowed to what is stated about the use of its target, if
// the settings do.
func (e *Explanation) hold(settings judge.Settings, q *judge.Request, robots *policy.Robots, result *judge.Result) {
	enforced := settings.EnforceUse
	settings.EnforceUse = true
	against := settings.AgainstUse(q, robots, result)
	if against == nil {
		return
	}
	if e.Preferences.Held = true; enforced {
		settings.HoldToUse(q, result, against)
		e.Verdict, e.Why = result.Verdict.String(), fmt.Sprintf("%s in line %d, if it has read that: %s", against, against.Line, result.Reason)
	}
}

package explain

import (
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Preferences is what the group states about the use of what is fetched
// (draft-ietf-aipref-attach-05). It decides nothing about fetching.
type Preferences struct {
	Stated string `json:"stated"` // such as "train-ai=n, search=y"
	Lines  []int  `json:"lines"`  // the Content-Usage lines that state it
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
}

package readers

import (
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// LastWitness returns the client that was served the file last, less than a day
// ago.
func (s *SiteTexts) LastWitness(now time.Time) (origin.Witness, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.witness, !s.witness.At.IsZero() && now.Sub(s.witness.At) < policy.MaxAge
}

// Saw remembers who was served the file, and reports whether nobody was for a day.
func (s *SiteTexts) Saw(w origin.Witness, verified bool, now time.Time) (first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first = s.witness.At.IsZero() || now.Sub(s.witness.At) >= policy.MaxAge
	if w.At, w.Verified = now, verified; first || verified || !s.witness.Verified {
		s.witness = w
	}
	return first
}

// IsRefused reports whether the guard is refused what clients are served.
func (s *SiteTexts) IsRefused() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

// SetRefused remembers whether the guard is refused what clients are served, and
// reports whether that is new.
func (s *SiteTexts) SetRefused(refused bool) (changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed = s.refused != refused
	s.refused = refused
	return changed
}

package readers

import (
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// LastWitness returns the client that was served the file last, less than a day
// ago.
func (s *SiteTexts) LastWitness(now time.Time) (origin.Witness, bool) {
	last := s.witness.Load()
	if last == nil {
		return origin.Witness{}, false
	}
	return *last, now.Sub(last.At) < policy.MaxAge
}

// Saw remembers who was served the file, and reports whether nobody was for a day.
func (s *SiteTexts) Saw(w origin.Witness, verified bool, now time.Time) (first bool) {
	w.At, w.Verified = now, verified
	for {
		last := s.witness.Load()
		first = last == nil || now.Sub(last.At) >= policy.MaxAge
		if !first && last.Verified && !verified || s.witness.CompareAndSwap(last, &w) {
			return first
		}
	}
}

// IsRefused reports whether the guard is refused what clients are served.
func (s *SiteTexts) IsRefused() bool { return s.refused.Load() }

// SetRefused remembers whether the guard is refused what clients are served, and
// reports whether that is new.
func (s *SiteTexts) SetRefused(refused bool) (changed bool) {
	return s.refused.Swap(refused) != refused
}

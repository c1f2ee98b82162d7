package publication

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// IsServed reports whether the crawlers of an operator are served a change that so many
// percent of the operators have. It is the same on every instance and for all crawlers
// of the operator, more percent only add to it, and another change begins with others.
// Operators that search come last, at 100 percent.
func (c *Change) IsServed(operator string, searches bool, percent int) bool {
	switch {
	case operator == "": // only those take part who are verified
		return false
	case percent >= 100 || searches:
		return percent >= 100
	}
	var room [128]byte // asked for each request: nothing is allocated
	sum := sha256.Sum256(append(append(append(room[:0], c.ID...), ' '), operator...))
	return binary.BigEndian.Uint64(sum[:])%100 < uint64(max(percent, 0))
}

// Cohort is a change that some operators are served before others, or were.
type Cohort struct {
	Change
	Ended time.Time // zero while they are
}

// Cohorts returns the change that some operators are served before others, and those
// that some were since a time, the latest first.
func (s *State) Cohorts(since time.Time) (all []Cohort) {
	if c := s.Candidate; c != nil && c.Stage == Crawlers {
		all = append(all, Cohort{Change: c.Change})
	}
	add := func(c *Change) {
		ended := c.Published
		if ended.IsZero() && c.Ended != nil {
			ended = c.Ended.At
		}
		if c.Cohort > 0 && ended.After(since) {
			all = append(all, Cohort{*c, ended})
		}
	}
	if s.Published != nil {
		add(s.Published)
	}
	for i := range s.History {
		add(&s.History[i])
	}
	return all
}

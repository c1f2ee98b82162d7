package publish

import (
	"fmt"
	"slices"
	"time"
)

// Rollback publishes the change with this ID again, at once. "" stands for what came
// last: a candidate that some are served is taken back, else what was published
// before, or nothing but the site's own robots.txt, takes the place of what is.
func (s State) Rollback(id string, by By, now time.Time) (State, News, error) {
	by.At = now
	if c := s.Candidate; id == "" && c.isServed() {
		s = s.over(c.Change, RolledBack, by)
		s.Candidate = nil
		return s, IsRolledBack, nil
	}
	if s.Published == nil {
		return s, Nothing, fmt.Errorf("%w: nothing was published yet", ErrUnknown)
	}
	number := s.Changes + 1
	if id == "" {
		var err error
		if id, number, err = s.parent(); err != nil {
			return s, Nothing, err
		}
	}
	restored := s.latest(id, number)
	switch {
	case restored == nil && id != IDOf(Empty):
		return s, Nothing, fmt.Errorf("%w, or it is not kept any more: %s", ErrUnknown, id)
	case restored == nil:
		restored = &Change{ID: id}
	}
	if restored.ID == s.Published.ID {
		return s, Nothing, ErrIsPublished
	}
	s, _ = s.withdraw(by)
	s.Changes++
	change := Change{Number: s.Changes, ID: restored.ID, Parent: s.Published.ID, Origin: FromRollback, Restores: restored.Number, Made: by, Published: now}
	return s.succeed(change, RolledBack, by.Who, now), IsRolledBack, nil
}

// NotShown is an error if a rollback without an ID takes back another change than by a state
// from before, nil if by that there was none: who takes back what was shown means no other.
func (s *State) NotShown(shown *State) error {
	back, meant := s.last(), shown.last()
	if back == nil || meant == nil || back.Number == meant.Number {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrNotShown, back.ID)
}

// last returns the change that a rollback without an ID takes back: a candidate that some are
// served, or else what is published, nil for none.
func (s *State) last() *Change {
	if s.Candidate.isServed() {
		return &s.Candidate.Change
	}
	return s.Published
}

// isServed reports whether some are served a candidate, nil if there is none.
func (c *Candidate) isServed() bool { return c != nil && c.Stage == Hosts }

// parent returns the ID of what was published before what is, and the number that it
// was published before. What a rollback has published again stands where it stood
// first, so that one rollback after another goes further back.
func (s *State) parent() (id string, before int, err error) {
	current := s.Published
	for current.Origin == FromRollback {
		if current.ID == IDOf(Empty) {
			return "", 0, ErrIsFirst
		}
		i := slices.IndexFunc(s.History, func(c Change) bool { return c.Number == current.Restores && c.Number < current.Number }) // so that it ends
		if i < 0 {
			return "", 0, fmt.Errorf("%w: what was before %s is not kept any more", ErrUnknown, current.ID)
		}
		current = &s.History[i]
	}
	return current.Parent, current.Number, nil
}

// latest returns the last change before a number that was published with an ID, nil
// for none.
func (s *State) latest(id string, before int) *Change {
	for i := range s.History {
		if c := &s.History[i]; c.ID == id && c.Number < before && !c.Published.IsZero() {
			return c
		}
	}
	if p := s.Published; p != nil && p.ID == id && p.Number < before {
		return p
	}
	return nil
}

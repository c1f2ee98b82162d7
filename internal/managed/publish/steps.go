package publish

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// News is what a step has come to.
type News string

// The news.
const (
	Nothing      News = ""            // all is as it was
	HasToWait    News = "waiting"     // the change waits for a person
	IsTried      News = "trying"      // its trial has begun
	IsPublished  News = "published"   // all are served it
	IsWithdrawn  News = "withdrawn"   // a candidate was given up
	IsRolledBack News = "rolled_back" // an earlier change is published, or a trial was ended
	IsStopped    News = "stopped"     // a trial was ended, by what it found or by a person
)

// AllNews returns the news that are worth counting.
func AllNews() []News {
	return []News{HasToWait, IsTried, IsPublished, IsWithdrawn, IsRolledBack, IsStopped}
}

// Submission is a spec that its owner wants now.
type Submission struct {
	ID       string
	Instance string // that submits it
	Origin   Origin
	By       By // its time does not count
	// Findings, Difference and Reasons are those of [Change]. With a reason it has
	// to be confirmed.
	Findings, Difference, Reasons []string
	Rollout                       Rollout
}

// What cannot be done.
var (
	ErrNoCandidate = errors.New("no change waits or is tried")
	ErrOther       = errors.New("another change waits by now")
	ErrUnconfirmed = errors.New("the change has to be confirmed first")
	ErrConfirmed   = errors.New("the change needs no confirmation")
	ErrUnknown     = errors.New("no such change was published")
	ErrIsPublished = errors.New("that change is published already")
	ErrNotShown    = errors.New("by now another change would be taken back")
	ErrUnreadable  = errors.New("what that change says is lost or cannot be understood here")
	ErrIsFirst     = errors.New("nothing was published before; there is nothing older to go back to")
)

// Submit takes in what an instance wants. What is no news changes nothing, and neither
// does what is published or a candidate already; but the former ends a candidate. Any
// other spec is a new candidate, in the place of one that was there, or is published
// at once.
func (s State) Submit(in Submission, now time.Time) (State, News) {
	isNews := s.IsNews(in)
	if before := s.Submitted[in.Instance]; before.ID != in.ID || now.Sub(before.At) >= instanceRenew {
		s.Submitted = noted(s.Submitted, in.Instance, Submitted{in.ID, now})
	}
	if !isNews {
		return s, Nothing
	}
	s.Latest = in.ID
	in.By.At = now
	if p := s.Published; p != nil && p.Origin == FromRollback && in.Origin == FromRules {
		in.Reasons = append(slices.Clone(in.Reasons), "it was rolled back, and a list of rules has changed since")
	}
	switch {
	case in.ID == s.PublishedID():
		return s.withdraw(in.By)
	case s.Candidate != nil && s.Candidate.ID == in.ID:
		return s, Nothing
	}
	s, _ = s.withdraw(in.By)
	s.Changes++
	s.Candidate = &Candidate{Rollout: in.Rollout, Change: Change{
		Number: s.Changes, ID: in.ID, Parent: s.PublishedID(), Origin: in.Origin, Made: in.By,
		Findings: first(in.Findings), Difference: first(in.Difference), Reasons: first(in.Reasons),
	}}
	if len(in.Reasons) > 0 {
		s.Candidate.Stage, s.Candidate.Since = Confirmation, now
		return s, HasToWait
	}
	return s.rollOut(now)
}

// noted returns what instances have submitted, with one more. Those that were not heard of
// for long are left out, and of too many those farthest from now: a clock that was ahead has
// noted some that are never old.
func noted(before map[string]Submitted, instance string, what Submitted) map[string]Submitted {
	after := maps.Clone(before)
	if after == nil {
		after = make(map[string]Submitted)
	}
	maps.DeleteFunc(after, func(_ string, s Submitted) bool { return what.At.Sub(s.At) > instanceLife })
	after[instance] = what
	for len(after) > mostInstances {
		distance := func(instance string) time.Duration { return what.At.Sub(after[instance].At).Abs() }
		delete(after, slices.MaxFunc(slices.Collect(maps.Keys(after)), func(a, b string) int { return cmp.Compare(distance(a), distance(b)) }))
	}
	return after
}

// rollOut begins the trial of the candidate, or publishes it.
func (s State) rollOut(now time.Time) (State, News) {
	c := *s.Candidate
	if c.Rollout.Stage == "" {
		return s.publish(now)
	}
	c.Stage, c.Since, c.Until = c.Rollout.Stage, now, time.Time{}
	if c.Rollout.Seconds > 0 {
		c.Until = now.Add(time.Duration(c.Rollout.Seconds) * time.Second)
	}
	s.Candidate = &c
	return s, IsTried
}

// publish publishes the candidate.
func (s State) publish(now time.Time) (State, News) {
	change := s.Candidate.Change
	change.Published = now
	s.Candidate = nil
	return s.succeed(change, Superseded, change.Made.Who, now), IsPublished
}

// succeed puts a change in the place of what is published.
func (s State) succeed(change Change, end End, who string, now time.Time) State {
	if s.Published != nil {
		s = s.over(*s.Published, end, By{Who: who, At: now})
	}
	s.Published = &change
	return s
}

// withdraw gives the candidate up for something else.
func (s State) withdraw(by By) (State, News) {
	if s.Candidate == nil {
		return s, Nothing
	}
	s = s.over(s.Candidate.Change, Withdrawn, By{Who: by.Who, At: by.At})
	s.Candidate = nil
	return s, IsWithdrawn
}

// over adds a change to the history, and drops what is too old or too much of it. What
// was published last stays, so that there is always something to go back to.
func (s State) over(change Change, end End, by By) State {
	change.End, change.Ended = end, &by
	history := withoutRepeated(append([]Change{change}, s.History...))
	history = history[:min(len(history), mostChanges)]
	last := slices.IndexFunc(history, func(c Change) bool { return !c.Published.IsZero() })
	for len(history) > last+1 && by.At.Sub(history[len(history)-1].Ended.At) > keptFor {
		history = history[:len(history)-1]
	}
	s.History = history
	return s
}

// mostWithdrawn is how many withdrawn changes by lists of rules the history keeps.
const mostWithdrawn = 20

// withoutRepeated drops all but the last withdrawn changes by lists of rules from a
// history, which it modifies: a list that comes and goes must not fill the history.
func withoutRepeated(history []Change) []Change {
	seen := 0
	return slices.DeleteFunc(history, func(c Change) bool {
		if c.Origin != FromRules || c.End != Withdrawn {
			return false
		}
		seen++
		return seen > mostWithdrawn
	})
}

// Confirm lets a candidate go on that waits for it.
func (s State) Confirm(id string, by By, now time.Time) (State, News, error) {
	by.At = now
	if err := s.isCandidate(id); err != nil {
		return s, Nothing, err
	}
	if s.Candidate.Stage != Confirmation {
		return s, Nothing, ErrConfirmed
	}
	c := *s.Candidate
	c.Confirmed = &by
	s.Candidate = &c
	s, news := s.rollOut(now)
	return s, news, nil
}

// Promote publishes a candidate that is tried.
func (s State) Promote(id string, by By, now time.Time) (State, News, error) {
	if err := s.isCandidate(id); err != nil {
		return s, Nothing, err
	}
	if s.Candidate.Stage == Confirmation {
		return s, Nothing, ErrUnconfirmed
	}
	c := *s.Candidate
	by.At = now
	c.Promoted = &by
	s.Candidate = &c
	s, news := s.publish(now)
	return s, news, nil
}

// Keep keeps what the trial of a candidate has found.
func (s State) Keep(found Found) State {
	if s.Candidate == nil || s.Candidate.Stage == Confirmation {
		return s
	}
	c := *s.Candidate
	found.Pages = first(found.Pages)
	c.Found = &found
	s.Candidate = &c
	return s
}

// Advance publishes a candidate whose trial is over.
func (s State) Advance(now time.Time) (State, News) {
	if c := s.Candidate; c == nil || c.Stage == Confirmation || c.Until.IsZero() || now.Before(c.Until) {
		return s, Nothing
	}
	return s.publish(now)
}

// Stop ends the trial of a candidate, by what it has found or since a person gives it up.
func (s State) Stop(id string, by By, now time.Time) (State, News, error) {
	by.At = now
	if err := s.isCandidate(id); err != nil {
		return s, Nothing, err
	}
	if s.Candidate.Stage == Confirmation {
		return s, Nothing, ErrUnconfirmed
	}
	s = s.over(s.Candidate.Change, Stopped, by)
	s.Candidate = nil
	return s, IsStopped, nil
}

// isCandidate tells why a change is not the candidate, nil if it is. "" stands for
// whichever is.
func (s *State) isCandidate(id string) error {
	switch {
	case s.Candidate == nil:
		return ErrNoCandidate
	case id != "" && id != s.Candidate.ID:
		return fmt.Errorf("%w: %s", ErrOther, s.Candidate.ID)
	}
	return nil
}

// first returns the first lines of many, none longer than kept.
func first(lines []string) []string {
	more := len(lines) - MostLines
	lines = slices.Clone(lines[:min(len(lines), MostLines)])
	for i := range lines {
		lines[i] = text.Cut(lines[i], MostText)
	}
	if more > 0 {
		lines[MostLines-1] = fmt.Sprintf("and %d more", more+1)
	}
	return lines
}

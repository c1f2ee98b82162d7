package publication

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Bounds of what is kept of bases.
const (
	// mostBases is how many texts of bases can wait or be refused at once.
	mostBases = 64
	// mostInvented is how many of them may be of sites that clients have named.
	mostInvented = mostBases / 2
	// mostSites is how many sites of such a text are named.
	mostSites = 1000
	// BaseInterval is how soon a base that waits may be withdrawn after another one,
	// or have another text take its place: a site that turns back and forth costs two
	// writings in that time.
	BaseInterval = 10 * time.Minute
	// mostTurnings is how many bases that were withdrawn the history has, and how many
	// changes by lists of rules.
	mostTurnings = 20
	// BaseLife is how long a confirmation counts: all instances have read the base by
	// then.
	BaseLife = 25 * time.Hour
)

// What has become of a base that had to wait, beside [Confirmation].
const (
	BaseConfirmed Stage = "confirmed" // it is under the rules
	BaseStopped   Stage = "stopped"   // the one before stays, and nobody is asked any more
)

// BaseChange is another text of some sites' own robots.txt that closes too much. Its ID
// is that of the text, and its Parent that of the text before.
type BaseChange struct {
	Change
	// Sites are those whose own robots.txt it is, as https://example.com, or the path
	// of a file.
	Sites []string `json:"sites"`
	// Kept is the ID of the spec that has the text before.
	Kept  string `json:"kept"`
	Stage Stage  `json:"stage"`
	// Invented says that the configuration names none of the sites.
	Invented bool `json:"invented,omitempty"`
}

// Keeps reports whether the text before stays under the rules.
func (b *BaseChange) Keeps() bool { return b.Stage != BaseConfirmed }

// IsOver reports whether a base was confirmed so long ago that it does not count any
// more: what a site turns to once more has to be confirmed once more.
func (b *BaseChange) IsOver(now time.Time) bool {
	return b.Stage == BaseConfirmed && (b.Confirmed == nil || now.Sub(b.Confirmed.At).Abs() > BaseLife)
}

// IsOlder reports whether a base was found before a time, as far as that can be told: a
// clock that was ahead has left one of the future, which nobody can wait for.
func (b *BaseChange) IsOlder(than, now time.Time) bool {
	return than.After(b.Made.At) || b.Made.At.Sub(now) >= BaseInterval
}

// isLately reports whether a time was less than [BaseInterval] ago, or will be in less
// than that, as the clocks of instances differ.
func isLately(at, now time.Time) bool { return now.Sub(at).Abs() < BaseInterval }

// Hold says that a base has to wait, by its ID, Parent, Kept, Sites, Difference and
// Reasons. It takes the place of others that wait at the same sites. What is known
// already is no news, and where too many wait it is left out.
func (s State) Hold(in BaseChange, now time.Time) (State, News) {
	before, sites := s, make(map[string]bool, len(in.Sites))
	for _, site := range in.Sites {
		sites[site] = true
	}
	s.Bases = slices.DeleteFunc(slices.Clone(s.Bases), func(b BaseChange) bool {
		return b.IsOver(now)
	})
	for i := range s.Bases {
		b := &s.Bases[i]
		if b.ID == in.ID && b.Parent == in.Parent {
			all := some(append(slices.Clone(b.Sites), in.Sites...))
			if !b.Keeps() || len(all) == len(b.Sites) {
				return before, Nothing
			}
			b.Sites, b.Invented = all, b.Invented && in.Invented
			return s, Nothing
		}
		if b.Stage == Confirmation && b.isAt(sites) && isLately(b.Made.At, now) {
			return before, Nothing
		}
	}
	by := By{Who: string(FromBase), At: now}
	for _, b := range slices.Clone(s.Bases) {
		if b.Keeps() && b.isAt(sites) {
			s = s.leave(b.Number, in.Sites, by)
		}
	}
	invented := 0
	for i := range s.Bases {
		if s.Bases[i].Invented {
			invented++
		}
	}
	if len(s.Bases) >= mostBases || in.Invented && invented >= mostInvented {
		return before, Nothing
	}
	s.Changes++
	b := BaseChange{Sites: some(in.Sites), Kept: in.Kept, Stage: Confirmation, Invented: in.Invented, Change: Change{
		Number: s.Changes, ID: in.ID, Parent: in.Parent, Origin: FromBase, Made: by, Reasons: first(in.Reasons), Difference: first(in.Difference),
	}}
	s.Bases = append(s.Bases, b)
	return s, HasToWait
}

// KeepsAt reports whether a text of this ID stays out of the rules of a site, in favour of
// whatever text an instance has there.
func (s *State) KeepsAt(site, id string) bool {
	return slices.ContainsFunc(s.Bases, func(b BaseChange) bool {
		return b.Keeps() && b.ID == id && slices.Contains(b.Sites, site)
	})
}

// HasLeft reports whether a text has waited that was withdrawn after a time, since its sites
// had another one by then. A clock that was ahead by more than a day does not count, or the
// text would wait for as long.
func (s *State) HasLeft(id string, after, now time.Time) bool {
	return slices.ContainsFunc(s.History, func(c Change) bool {
		return c.Origin == FromBase && c.End == Withdrawn && c.ID == id && c.Ended.At.After(after) && c.Ended.At.Sub(now) < BaseLife
	})
}

// isAt reports whether a base is of one of these sites.
func (b *BaseChange) isAt(sites map[string]bool) bool {
	return slices.ContainsFunc(b.Sites, func(site string) bool { return sites[site] })
}

// some returns the first of many sites, each once.
func some(sites []string) []string {
	sites = slices.Clone(sites)
	slices.Sort(sites)
	sites = slices.Compact(sites)
	return sites[:min(len(sites), mostSites)]
}

// Settle says that sites have another base by now, which does not have to wait, than
// the one of this number. Without any site left that is withdrawn, but not again and
// again; see [BaseInterval].
func (s State) Settle(number int, sites []string, now time.Time) (State, News) {
	last := slices.IndexFunc(s.History, func(c Change) bool { return c.Origin == FromBase && c.End == Withdrawn })
	if last >= 0 && isLately(s.History[last].Ended.At, now) {
		return s, Nothing
	}
	before := len(s.History)
	s.Bases = slices.Clone(s.Bases)
	if s = s.leave(number, sites, By{Who: string(FromBase), At: now}); len(s.History) == before {
		return s, Nothing
	}
	return s, IsWithdrawn
}

// leave takes sites from a base, and the base out if it has no more. s.Bases is its own.
func (s State) leave(number int, sites []string, by By) State {
	i := slices.IndexFunc(s.Bases, func(b BaseChange) bool { return b.Number == number })
	if i < 0 {
		return s
	}
	b := s.Bases[i]
	b.Sites = slices.DeleteFunc(slices.Clone(b.Sites), func(site string) bool { return slices.Contains(sites, site) })
	if len(b.Sites) > 0 {
		s.Bases[i] = b
		return s
	}
	s.Bases = slices.Delete(s.Bases, i, i+1)
	if b.Stage != Confirmation {
		return s // it is in the history
	}
	return s.over(b.Change, Withdrawn, by)
}

// withoutTurnings drops all but the last changes from a history, which is modified, that
// nobody has made and that were withdrawn.
func withoutTurnings(history []Change) []Change {
	seen := make(map[Origin]int)
	return slices.DeleteFunc(history, func(c Change) bool {
		if c.Origin != FromBase && c.Origin != FromRules || c.End != Withdrawn {
			return false
		}
		seen[c.Origin]++
		return seen[c.Origin] > mostTurnings
	})
}

// waiting returns the places of the bases that a person means by an ID, "" for the only
// change that waits.
func (s *State) waiting(id string) (found []int, err error) {
	var ids []string
	if c := s.Candidate; c != nil && c.Stage == Confirmation {
		ids = append(ids, c.ID)
	}
	for i, b := range s.Bases {
		if b.Stage == Confirmation && (id == "" || id == b.ID) {
			found, ids = append(found, i), append(ids, b.ID)
		}
	}
	slices.Sort(ids)
	if id == "" && len(found) > 0 {
		if ids = slices.Compact(ids); len(ids) > 1 {
			return nil, fmt.Errorf("%w; say which is meant: %s", ErrSeveral, strings.Join(ids, " or "))
		}
	}
	return found, nil
}

// endBases ends the waiting of bases.
func (s State) endBases(which []int, stage Stage, by By) State {
	s.Bases = slices.Clone(s.Bases)
	end := Stopped
	if stage == BaseConfirmed {
		end = Accepted
	}
	for _, i := range which {
		b := &s.Bases[i]
		if b.Stage = stage; stage == BaseConfirmed {
			b.Confirmed = &by
		}
		s = s.over(b.Change, end, by)
	}
	return s
}

// baseChanged returns the base that a step has changed, nil for none.
func (s *State) baseChanged(before *State) *Change {
	for i := range s.Bases {
		if b := &s.Bases[i]; b.Number > before.Changes {
			return &b.Change
		}
	}
	if len(s.History) > 0 && s.History[0].Origin == FromBase && (len(before.History) == 0 || before.History[0].Number != s.History[0].Number) {
		return &s.History[0]
	}
	return nil
}

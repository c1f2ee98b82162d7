package publish

import (
	"fmt"
	"slices"
)

// ReadBy returns which crawlers have read the robots.txt since the change that is
// published was.
func (r *Release) ReadBy() []string {
	if state, _ := r.History(); state.Published != nil {
		return r.readersOf(state.Published)
	}
	return nil
}

// readersOf returns which crawlers have read the robots.txt since a change was published.
func (r *Release) readersOf(c *Change) []string {
	all := r.ReadSince(r.place.has(), c.Published)
	if more := len(all) - MostLines; more > 0 {
		all = append(all[:MostLines:MostLines], fmt.Sprintf("%d more", more))
	}
	return all
}

// noteReaders keeps with a change that is published no more who has read it.
func (r *Release) noteReaders(before, after History) History {
	was := before.Published
	if was == nil || after.Published != nil && after.Published.Number == was.Number {
		return after
	}
	i := slices.IndexFunc(after.Past, func(c Change) bool { return c.Number == was.Number })
	if i >= 0 {
		after.Past = slices.Clone(after.Past)
		after.Past[i].ReadBy = r.readersOf(was)
	}
	return after
}

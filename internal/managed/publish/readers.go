package publish

import (
	"fmt"
	"slices"
)

// ReadBy returns the crawlers that fetched the robots.txt since the published change was published.
func (p *Publisher) ReadBy() []string {
	if state, _ := p.History(); state.Published != nil {
		return p.readersOf(state.Published)
	}
	return nil
}

// readersOf returns at most [MaxLines] crawlers that fetched the robots.txt since a change was
// published.
func (p *Publisher) readersOf(c *Change) []string {
	all := p.ReadSince(p.place.has(), c.Published)
	if more := len(all) - MaxLines; more > 0 {
		all = append(all[:MaxLines:MaxLines], fmt.Sprintf("%d more", more))
	}
	return all
}

// recordReaders adds the crawlers that fetched a change to a change that was replaced.
func (p *Publisher) recordReaders(before, after History) History {
	was := before.Published
	if was == nil || after.Published != nil && after.Published.Number == was.Number {
		return after
	}
	i := slices.IndexFunc(after.Past, func(c Change) bool { return c.Number == was.Number })
	if i >= 0 {
		after.Past = slices.Clone(after.Past)
		after.Past[i].ReadBy = p.readersOf(was)
	}
	return after
}

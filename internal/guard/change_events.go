package guard

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
)

// eventChange is the prefix of events about changes of robots_txt. The state follows.
const eventChange = "robots_change_"

// changeEvents notifies another observer and then emits an event.
type changeEvents struct {
	publish.Observer
	*Events
}

// TellChanges returns an observer that notifies o and then emits events.
func (e *Events) TellChanges(o publish.Observer) publish.Observer { return changeEvents{o, e} }

// Changed implements publish.Observer.
func (c changeEvents) Changed(site string, change publish.Change) {
	c.Observer.Changed(site, change)
	name := eventChange + string(change.State)
	if !c.wanted(name) {
		return
	}
	by := change.Made
	for _, later := range []*publish.By{change.Confirmed, change.Promoted, change.Ended} {
		if later != nil && !later.At.Before(by.At) {
			by = *later
		}
	}
	c.Send(name, map[string]any{
		"site":       site,
		"state":      string(change.State),
		"change":     change.ID,
		"origin":     string(change.Origin),
		"who":        by.Who,
		"why":        by.Why,
		"ticket":     by.Ticket,
		"reasons":    strings.Join(change.Reasons, "; "),
		"difference": strings.Join(change.Difference, "\n"),
	})
}

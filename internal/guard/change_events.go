package guard

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
)

// eventChange is the prefix of events about changes of robots_txt. The state follows.
const eventChange = "robots_change_"

// ChangeObserver is notified of changes of robots_txt.
type ChangeObserver interface {
	Changed(site string, change publish.Change)
	HistoryFailed(site string, err error)
}

// changeEvents notifies another observer and then emits an event.
type changeEvents struct {
	ChangeObserver
	*Events
}

// TellChanges returns an observer that notifies o and then emits events.
func (e *Events) TellChanges(o ChangeObserver) ChangeObserver { return changeEvents{o, e} }

// Changed implements ChangeObserver.
func (c changeEvents) Changed(site string, change publish.Change) {
	c.ChangeObserver.Changed(site, change)
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

package publish

import (
	"cmp"
	"fmt"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// mostReported is how many changes that are over a report has.
const mostReported = 20

// Report returns the changes for a report: first what waits or is tried, then what is
// in force, and the last that were.
func (r *Release) Report() []report.ManagedChange {
	all := []report.ManagedChange{}
	if !r.begun.Load() {
		return all
	}
	state, _ := r.State()
	if c := state.Candidate; c != nil {
		one := reported(&c.Change, string(c.Stage), c.Since)
		one.Until = c.Until
		all = append(all, one)
	}
	if c := state.Published; c != nil {
		one := reported(c, "published", c.Published)
		one.ReadBy = r.readersOf(c)
		all = append(all, one)
	}
	for i := range state.History[:min(len(state.History), mostReported)] {
		c := &state.History[i]
		since := c.Made.At
		if c.Ended != nil {
			since = c.Ended.At
		}
		all = append(all, reported(c, string(c.End), since))
	}
	return all
}

// reported returns a change as a report has it.
func reported(c *Change, state string, since time.Time) report.ManagedChange {
	one := report.ManagedChange{
		ID: c.ID, Origin: string(c.Origin), State: state, Since: since,
		Who: c.Made.Who, Why: c.Made.Why, Ticket: c.Made.Ticket, Reasons: c.Reasons, Difference: c.Difference, ReadBy: c.ReadBy,
	}
	for _, decision := range []struct {
		verb string
		by   *By
	}{{"confirmed", c.Confirmed}, {"promoted", c.Promoted}, {cmp.Or(string(c.End), "ended"), c.Ended}} {
		if decision.by == nil || decision.by == c.Ended && (c.End == Superseded || c.End == Withdrawn) {
			continue // the next change says who
		}
		said := fmt.Sprintf("%s by %s", wordOf(decision.verb), decision.by.Who)
		if decision.by.Why != "" {
			said += ": " + decision.by.Why
		}
		if decision.by.Ticket != "" {
			said += " (" + decision.by.Ticket + ")"
		}
		one.Decided = append(one.Decided, said)
	}
	return one
}

// wordOf returns an end as a person writes it.
func wordOf(end string) string {
	if end == string(RolledBack) {
		return "rolled back"
	}
	return end
}

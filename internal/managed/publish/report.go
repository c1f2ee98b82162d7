package publish

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// maxReported is the maximum number of past changes in a report.
const maxReported = 20

// Report returns the pending change, the published change, and the latest past changes.
func (p *Publisher) Report() []report.ManagedChange {
	if !p.begun.Load() {
		return []report.ManagedChange{}
	}
	h, _ := p.History()
	all := h.report()
	for i := range all {
		if all[i].State == string(Published) {
			all[i].ReadBy = p.ReadBy()
		}
	}
	return all
}

// report returns the changes in the order of [Publisher.Report].
func (h *History) report() []report.ManagedChange {
	all := []report.ManagedChange{}
	for _, c := range []*Change{h.Pending, h.Published} {
		if c != nil {
			all = append(all, c.report())
		}
	}
	for i := range h.Past[:min(len(h.Past), maxReported)] {
		all = append(all, h.Past[i].report())
	}
	return all
}

// report returns a change for a report.
func (c *Change) report() report.ManagedChange {
	one := report.ManagedChange{
		Number: c.Number, ID: c.ID, Origin: string(c.Origin), State: string(c.State), Since: c.Since, Until: c.Until,
		Who: c.Made.Who, Why: c.Made.Why, Ticket: c.Made.Ticket, Reasons: c.Reasons, Difference: c.Difference, ReadBy: c.ReadBy,
	}
	if c.IsRejectedByTrial() {
		one.Stopped = c.Ended.Why
	}
	for _, decision := range []struct {
		verb string
		by   *By
	}{{"confirmed", c.Confirmed}, {"promoted", c.Promoted}, {strings.ReplaceAll(string(c.State), "_", " "), c.Ended}} {
		if decision.by != nil && decision.verb != string(Superseded) { // the next change has the name
			one.Decided = append(one.Decided, decision.verb+" by "+decision.by.String())
		}
	}
	return one
}

// String describes the person or trial that decided, and the reason.
func (b *By) String() string {
	words := b.Who
	if b.Why != "" {
		words += ": " + b.Why
	}
	if b.Ticket != "" {
		words += " (" + b.Ticket + ")"
	}
	return words
}

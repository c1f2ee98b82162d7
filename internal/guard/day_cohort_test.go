package guard

import (
	"net/http"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/publication"
	"github.com/robotsguard/caddy-robots-guard/internal/shadow"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// cohortsOfDay are the changes that some operators are served before others, or were in
// the last day, with what ends that the guards know of them.
type cohortsOfDay struct {
	all  []publication.Cohort
	ends map[cohortOfDay][]func()
}

type cohortOfDay struct {
	number int
	ended  time.Time
}

// know tells both guards of the changes that some operators are served before others, as
// a release does.
func (d *daySite) know() {
	d.cohorts.all = d.state.Cohorts(time.Now().Add(-policy.MaxAge))
	known := make(map[cohortOfDay]bool)
	for i := range d.cohorts.all {
		c := &d.cohorts.all[i]
		key := cohortOfDay{c.Number, c.Ended}
		if known[key] = true; d.cohorts.ends[key] != nil {
			continue
		}
		schedule := d.schedules[c.ID]
		change := shadow.Change{
			Source: "served " + c.ID, Ended: c.Ended, Has: func(string) bool { return true },
			ServedTo: func(operator string) bool { return c.IsServed(operator, searches(operator), c.Cohort) },
			Text: func(host string) policy.Answer {
				text, err := schedule.Text(time.Now(), host, nil)
				return policy.Answer{Status: http.StatusOK, Body: text, Err: err}
			},
		}
		if d.cohorts.ends == nil {
			d.cohorts.ends = make(map[cohortOfDay][]func())
		}
		d.cohorts.ends[key] = []func(){d.g.shared.ServesSome(change), d.other.shared.ServesSome(change)}
	}
	for key, ends := range d.cohorts.ends {
		if !known[key] {
			for _, end := range ends {
				end()
			}
			delete(d.cohorts.ends, key)
		}
	}
}

// instanceFor returns where a crawler asks for a page: at either instance if its operator
// is served a change before others, or was in the last day.
func (d *daySite) instanceFor(c *obedient) *Guard {
	operator := uaident.Default().Lookup(c.token).Operator
	for i := range d.cohorts.all {
		change := &d.cohorts.all[i]
		if c.who == verify.Verified && change.IsServed(operator, searches(operator), change.Cohort) && d.dice.IntN(2) == 0 {
			return d.other
		}
	}
	return d.g
}

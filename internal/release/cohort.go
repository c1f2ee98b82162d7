package release

import (
	"cmp"
	"context"
	"errors"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/publication"
	"github.com/robotsguard/caddy-robots-guard/internal/shadow"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// trialOf returns what some are served of a candidate that is tried.
func (r *Release) trialOf(c *publication.Candidate, tried *managed.Schedule) managed.Trial {
	if c == nil || c.Stage == publication.Shadow {
		return managed.Trial{}
	}
	trial := managed.Trial{Schedule: tried, ID: c.ID, Until: c.Until}
	if c.Stage == publication.Crawlers {
		trial.Percent, trial.ServedTo = c.Cohort, r.cohort(&c.Change, c.Cohort)
	} else {
		trial.Hosts = c.Rollout.Hosts
	}
	return trial
}

// mostCohorts bounds of how many changes it is known whom they were served before
// others.
const mostCohorts = 8

// cohortKey tells a change that some are served from when they are no more.
type cohortKey struct {
	number, percent int
	ended           int64 // in nanoseconds
}

// knowCohorts tells the guards which operators are served a change before others, and
// were in the last day: for so long their crawlers may go by it. It returns the IDs of
// these changes. r.applying must be held.
func (r *Release) knowCohorts(ctx context.Context, state *publication.State, w wish) (ids map[string]bool) {
	if r.Trials == nil {
		return nil
	}
	all := state.Cohorts(r.Now().Add(-policy.MaxAge))
	all = all[:min(len(all), mostCohorts)]
	known := make(map[cohortKey]bool, len(all))
	ids = make(map[string]bool, len(all))
	for i := range all {
		c := &all[i]
		key := cohortKey{c.Number, c.Cohort, c.Ended.UnixNano()}
		known[key], ids[c.ID] = true, true
		if r.cohorts[key] != nil {
			continue
		}
		tried, err := r.schedule(ctx, c.ID, w)
		if err != nil {
			continue // what is published does not depend on it; it is tried again
		}
		if r.cohorts == nil {
			r.cohorts = make(map[cohortKey]func())
		}
		r.cohorts[key] = r.Trials.ServesSome(shadow.Change{
			Source: "served " + c.ID, Has: r.place.has(), ServedTo: r.cohort(&c.Change, c.Cohort), Ended: c.Ended,
			Text: func(host string) policy.Answer { return r.textOf(tried, host) },
		})
	}
	r.endCohorts(known)
	return ids
}

// takeOver tells the guards what is known from the configuration before of these changes
// and of the one that is tried, since that will say it no more: the storage may not answer
// for long, and what a trial has found is forgotten once nobody tries it.
func (r *Release) takeOver() {
	state, known := r.site.State()
	if !known {
		return
	}
	atHand, cancel := context.WithCancel(context.Background())
	cancel() // so that nothing is read
	w, _ := r.wanted()
	r.applying.Lock()
	defer r.applying.Unlock()
	r.knowCohorts(atHand, &state, w)
	if c := state.Candidate; isTried(c) {
		published, err := r.schedule(atHand, state.PublishedID(), w)
		tried, lost := r.schedule(atHand, c.ID, w)
		if errors.Join(err, lost) == nil {
			r.judge(c, published, tried)
			r.judged = c.Number
		}
	}
}

// endCohorts forgets what guards were told of all changes but some. r.applying must be
// held.
func (r *Release) endCohorts(but map[cohortKey]bool) {
	for key, end := range r.cohorts {
		if !but[key] {
			end()
			delete(r.cohorts, key)
		}
	}
}

// changed tells the guards that another text is served.
func (r *Release) changed() {
	if r.Trials != nil {
		r.Trials.Changed(r.place.has())
	}
}

// cohort returns what tells which operators are served a change that so many percent
// of them have.
func (r *Release) cohort(c *publication.Change, percent int) func(operator string) bool {
	searches := operatorsOf(searchEngines(r.Registry))
	return func(operator string) bool { return c.IsServed(operator, searches[operator], percent) }
}

// operatorsOf returns who runs some crawlers. One without an operator stands for
// itself.
func operatorsOf(crawlers []*uaident.Crawler) map[string]bool {
	operators := make(map[string]bool, len(crawlers))
	for _, c := range crawlers {
		operators[cmp.Or(c.Operator, c.Token)] = true
	}
	return operators
}

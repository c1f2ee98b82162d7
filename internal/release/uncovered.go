package release

import (
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/publication"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// baseKnown is for how long an instance may not have read a base that another one has.
const baseKnown = 25 * time.Hour

// holdUncovered has texts of the site's own wait that another schedule than the one that was
// served last closes, though nobody was asked: who submitted it knew the text before, or this
// instance the history only now. That text is under the rules again before the schedule is
// served. The schedule is that of a change, nil where nothing is published.
func (r *Release) holdUncovered(change *publication.Change, next *managed.Schedule) {
	if r.Confirm == Off {
		return
	}
	before, alone := r.lastServed()
	isMeant := !alone && change != nil && (change.Confirmed != nil || change.Promoted != nil || change.Origin == publication.FromRollback)
	if before == nil || isMeant || managed.SameFor(before, next, searchEngines(r.Registry)) {
		return
	}
	f, hosts := r.newFinder(false)
	closing := func(o managed.OtherBase, under *policy.Version) []string {
		f := finder{engines: f.engines, visits: f.visits, told: make(map[string]time.Time)}
		left := managed.EachPairUnder(before, next, o, under, hosts, r.Now(), mostCompared, f.closed)
		return f.found(left)
	}
	for _, o := range r.keeper.Renewed(r.publisher.Bases, r.Now().Add(-baseKnown)) {
		if why := closing(o, o.After); len(why) > 0 && len(closing(o, o.Before)) == 0 {
			r.keeper.GoBack(o, why)
		}
	}
}

package release

import (
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/publication"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

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
	known, hosts := r.newFinder(false)
	closing := func(o managed.OtherBase, under *policy.Version) []string {
		f := finder{engines: known.engines, visits: known.visits, told: make(map[string]time.Time)}
		return f.found(managed.EachPairAt(o.Key, before, next, o.After, under, hosts, r.Now(), mostCompared, f.closed))
	}
	for _, o := range r.keeper.Renewed(r.publisher.Bases, r.Now().Add(-publication.BaseLife)) {
		if why := closing(o, o.After); len(why) > 0 && len(closing(o, o.Before)) == 0 {
			r.keeper.GoBack(o, why)
		}
	}
}

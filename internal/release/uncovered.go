package release

import (
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/publication"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// holdUncovered has texts of the site's own wait that another schedule than the one that is
// served closes, though nobody was asked: who submitted it knew the text before, or this
// instance the history only now. That text is under the rules again before the schedule is served.
func (r *Release) holdUncovered(state *publication.State, next *managed.Schedule) {
	before, change := r.publisher.Serving(), state.Published
	isMeant := r.served.published != "" && change != nil && (change.Confirmed != nil || change.Promoted != nil || change.Origin == publication.FromRollback)
	if before == nil || isMeant || r.Confirm == Off || managed.SameFor(before, next, searchEngines(r.Registry)) {
		return
	}
	for _, o := range r.keeper.Renewed(r.publisher.Bases) {
		if why := r.closing(next, o, o.After); len(why) > 0 && len(r.closing(next, o, o.Before)) == 0 {
			r.keeper.GoBack(o, why)
		}
	}
}

// closing returns what speaks against a schedule with a version of a base.
func (r *Release) closing(next *managed.Schedule, o managed.OtherBase, under *policy.Version) []string {
	f, hosts := r.newFinder(false)
	return f.found(r.publisher.EachPairUnder(next, o, under, hosts, mostCompared, f.closed))
}

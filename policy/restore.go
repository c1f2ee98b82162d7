package policy

import (
	"crypto/sha256"
	"slices"
	"time"
)

// clockSkew is the tolerated difference between the clocks of two machines.
const clockSkew = 5 * time.Minute

// Merge merges a stored state, or the state of another instance, into s. The version that was
// fetched last is the current version. The other version becomes a previous version if its content
// differs. The times of other may be wrong:
//
//   - A version that is too old to be used is ignored.
//   - A version fetched in the future, by a clock that was set back later, is ignored if s has a
//     version. Otherwise it has the fetch time now, and is due.
//   - A previous version that ended in the future ends at the last fetch of the current version of
//     other, at the latest.
func (s State) Merge(other State, now time.Time) State {
	other, ok := other.correctTimes(now, s.Current == nil)
	next := s
	switch {
	case !ok:
	case s.Current == nil:
		next.Current, next.Previous = other.Current, other.Previous
		if s.FailureCount == 0 {
			next.RedirectTargets, next.NextFetch, next.LastResult = other.RedirectTargets, other.NextFetch, other.LastResult
		}
	case other.Current.LastFetched.After(s.Current.LastFetched):
		if other.Current.LastFetched.After(s.FailingSince) { // otherwise the failures of s are newer
			next = State{RedirectTargets: other.RedirectTargets, NextFetch: other.NextFetch, LastResult: other.LastResult}
		}
		next.Current, next.Previous = mergeVersions(other.Current, other.Previous, s.Current, s.Previous)
	default:
		next.Current, next.Previous = mergeVersions(s.Current, s.Previous, other.Current, other.Previous)
	}
	return next
}

// mergeAsPrevious is Merge, except that the current version of s stays the current version. s must
// have a current version.
func (s State) mergeAsPrevious(other State, now time.Time) State {
	if other, ok := other.correctTimes(now, false); ok {
		s.Current, s.Previous = mergeVersions(s.Current, s.Previous, other.Current, other.Previous)
	}
	return s
}

// correctTimes returns a state with corrected times, as documented for Merge. ok is false if Merge
// ignores the state. acceptsFuture means that no version is known, so that Merge does not ignore a
// version from the future.
func (s State) correctTimes(now time.Time, acceptsFuture bool) (corrected State, ok bool) {
	if s.isFetchedInFuture(now) {
		if !acceptsFuture {
			return State{}, false
		}
		s = s.clampLastFetched(now)
	}
	if s.Current == nil || now.Sub(s.Current.LastFetched) >= MaxUnreachable {
		return State{}, false
	}
	s.Previous = clampReplacedAt(s.Previous, s.Current.LastFetched, now)
	return s, true
}

// isFetchedInFuture reports whether the current version was fetched in the future, by a wrong clock.
func (s *State) isFetchedInFuture(now time.Time) bool {
	return s.Current != nil && s.Current.LastFetched.After(now.Add(clockSkew))
}

// clampLastFetched returns the state with a fetch time of the current version no later than now. The
// state is due.
func (s State) clampLastFetched(now time.Time) State {
	fetched := *s.Current
	if fetched.LastFetched = now; fetched.FirstFetched.After(now) {
		fetched.FirstFetched = now
	}
	s.Current, s.NextFetch = &fetched, now
	return s
}

// clampReplacedAt returns the versions, with future ends replaced by latest.
func clampReplacedAt(past []*Version, latest, now time.Time) []*Version {
	future := now.Add(clockSkew)
	endsInFuture := func(v *Version) bool { return v.ReplacedAt.After(future) }
	if !slices.ContainsFunc(past, endsInFuture) {
		return past
	}
	past = slices.Clone(past)
	for i, v := range past {
		if endsInFuture(v) {
			clamped := *v
			for _, t := range []*time.Time{&clamped.FirstFetched, &clamped.LastFetched, &clamped.ReplacedAt} {
				if t.After(latest) {
					*t = latest
				}
			}
			past[i] = &clamped
		}
	}
	sortByReplacedAt(past)
	return past
}

// mergeVersions returns the current version and the past, with another version and its past added to
// the past. The other version can be newer than the current version, see [Cache.Restore]. Crawlers
// may have fetched each version at the instance where the version was current.
func mergeVersions(current *Version, past []*Version, other *Version, otherPast []*Version) (*Version, []*Version) {
	all := slices.Concat(past, otherPast)
	if other.Hash == current.Hash {
		if other.FirstFetched.Before(current.FirstFetched) || other.WasServed && !current.WasServed {
			merged := *current
			if other.FirstFetched.Before(merged.FirstFetched) {
				merged.FirstFetched = other.FirstFetched
			}
			merged.WasServed = merged.WasServed || other.WasServed
			current = &merged
		}
	} else {
		// Its end is the first fetch of the current version, or its own last fetch if later. A longer grace harms no crawler.
		retired := *other
		retired.ReplacedAt = current.FirstFetched
		if retired.ReplacedAt.Before(retired.LastFetched) {
			retired.ReplacedAt = retired.LastFetched
		}
		all = append(all, &retired)
	}
	sortByReplacedAt(all)
	known := map[[sha256.Size]byte]bool{current.Hash: true}
	all = slices.DeleteFunc(all, func(v *Version) bool {
		again := known[v.Hash]
		known[v.Hash] = true
		return again
	})
	return current, all[:min(len(all), MaxVersions)]
}

// sortByReplacedAt sorts versions by their end, latest first.
func sortByReplacedAt(past []*Version) {
	slices.SortStableFunc(past, func(a, b *Version) int { return b.ReplacedAt.Compare(a.ReplacedAt) })
}

// Restore adds a stored state, or the state of another instance. A fresh copy stays the current
// version unless newest is set. A newer copy of other then becomes a previous version, so that a
// site with varying responses does not change its copy all the time. A host that only clients name
// counts as used because of its stored state. Restore evicts no entry, and
// ignores sites without room. Restore reports whether the current version is now the version of
// other.
func (c *Cache) Restore(key Key, segment Segment, other State, newest bool) bool {
	now := c.now()
	if _, ok := other.correctTimes(now, true); !ok {
		return false
	}
	e := c.Get(key)
	if e == nil {
		if c.isFull(segment) {
			return false
		}
		e = c.GetOrCreate(key, segment)
	}
	if e.segment == UnknownHosts {
		c.promote(e)
	}
	// No fetch begins and MakeDue waits. A running fetch can end at any time, and its result
	// is merged.
	e.mu.Lock()
	defer e.mu.Unlock()
	for {
		var before State
		oldState := e.state.Load()
		if oldState != nil {
			before = *oldState
		}
		var next State
		if isFresh := before.Current != nil && before.FailureCount == 0 && now.Before(before.NextFetch); isFresh && !newest {
			next = before.mergeAsPrevious(other, now)
		} else {
			next = before.Merge(other, now)
		}
		if next.Current == before.Current && !hasNewVersions(next.Previous, before.Previous) {
			return false
		}
		for _, v := range append([]*Version{next.Current}, next.Previous...) {
			if v.Derived != nil {
				continue
			}
			if derived := c.derive(v.Robots); derived != nil { // otherwise other goroutines may read v
				v.Derived = derived
			}
		}
		if e.compareAndSwapState(oldState, &next) {
			if next.FailureCount == 0 && e.IsPossiblyChanged() {
				e.recheckAt.CompareAndSwap(0, now.UnixNano()) // the fetch of the other instance may precede the mark
			}
			return before.Current == nil || !next.Current.LastFetched.Equal(before.Current.LastFetched)
		}
	}
}

// hasNewVersions reports whether versions contain an unknown file, or a longer use of a known file.
// hasNewVersions ignores differences within the clock tolerance, so that two instances do not update
// each other forever.
func hasNewVersions(past, known []*Version) bool {
	return !slices.EqualFunc(past, known, func(a, b *Version) bool { return a.Hash == b.Hash && a.ReplacedAt.Sub(b.ReplacedAt) <= clockSkew })
}

// promote moves an entry to the protected queue, as if it had been used in several seconds.
func (c *Cache) promote(e *Entry) {
	e.usedSeconds.Store(protectedUsedSeconds)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Get(e.key) == e && !e.protected {
		c.segments[e.segment].queues.promote(e)
	}
}

// isFull reports whether a new entry would evict another.
func (c *Cache) isFull(s Segment) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	seg := c.segments[s]
	return seg.queues.len() >= seg.bounds.Entries || seg.versions.bytes >= seg.bounds.Bytes
}

// Resize changes the bounds of a segment and evicts the least recently used entries beyond
// them.
func (c *Cache) Resize(s Segment, b Bounds) {
	b.Entries, b.ConcurrentFetches = max(b.Entries, 1), max(b.ConcurrentFetches, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	seg := c.segments[s]
	seg.bounds = b
	for seg.queues.len() > b.Entries {
		c.evict(seg, seg.queues.removeLeastUsed(b.Entries))
	}
	c.shrinkToBytes(seg)
}

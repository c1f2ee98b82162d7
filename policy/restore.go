package policy

import (
	"crypto/sha256"
	"slices"
	"time"
)

// clockSkew is the tolerated difference between the clocks of two machines.
const clockSkew = 5 * time.Minute

// Merge returns s with the versions of other, which is a stored state or the state of another
// instance. The version that was fetched last is the current version. The other current version
// becomes a previous version if its content differs. The times in other may be wrong:
//
//   - If the current version of other is too old to be used, other is ignored.
//   - If it was fetched in the future, by a clock that was set back later, other is ignored if s
//     has a version. Otherwise the version counts as fetched at now, and the next fetch is due.
//   - A previous version that was replaced in the future counts as replaced at the last fetch of
//     the current version of other, at the latest.
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
		if other.Current.LastFetched.After(s.FailingSince) { // Otherwise, the failures of s are newer.
			next = State{RedirectTargets: other.RedirectTargets, NextFetch: other.NextFetch, LastResult: other.LastResult}
		}
		next.Current, next.Previous = mergeVersions(other.Current, other.Previous, s.Current, s.Previous)
	default:
		next.Current, next.Previous = mergeVersions(s.Current, s.Previous, other.Current, other.Previous)
	}
	return next
}

// mergeAsPrevious is Merge, except that the current version of s stays current even if other has a
// newer version. s must have a current version.
func (s State) mergeAsPrevious(other State, now time.Time) State {
	if other, ok := other.correctTimes(now, false); ok {
		s.Current, s.Previous = mergeVersions(s.Current, s.Previous, other.Current, other.Previous)
	}
	return s
}

// correctTimes returns the state with its times corrected as documented for Merge. ok is false if
// Merge ignores the state. acceptsFuture means that Merge does not ignore a version from the
// future, because no other version is known.
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

// isFetchedInFuture reports whether the current version has a fetch time after now, beyond the
// clock tolerance.
func (s *State) isFetchedInFuture(now time.Time) bool {
	return s.Current != nil && s.Current.LastFetched.After(now.Add(clockSkew))
}

// clampLastFetched returns the state with now as the last fetch of the current version, so that the
// next fetch is due.
func (s State) clampLastFetched(now time.Time) State {
	fetched := *s.Current
	if fetched.LastFetched = now; fetched.FirstFetched.After(now) {
		fetched.FirstFetched = now
	}
	s.Current, s.NextFetch = &fetched, now
	return s
}

// clampReplacedAt returns previous versions in which a ReplacedAt after now is replaced by latest.
// FirstFetched and LastFetched are then at most latest, too.
func clampReplacedAt(previous []*Version, latest, now time.Time) []*Version {
	future := now.Add(clockSkew)
	endsInFuture := func(v *Version) bool { return v.ReplacedAt.After(future) }
	if !slices.ContainsFunc(previous, endsInFuture) {
		return previous
	}
	previous = slices.Clone(previous)
	for i, v := range previous {
		if endsInFuture(v) {
			clamped := *v
			for _, t := range []*time.Time{&clamped.FirstFetched, &clamped.LastFetched, &clamped.ReplacedAt} {
				if t.After(latest) {
					*t = latest
				}
			}
			previous[i] = &clamped
		}
	}
	sortByReplacedAt(previous)
	return previous
}

// mergeVersions returns the current version, and the previous versions of two states in one list,
// in which each body occurs once. other is the current version of the second state, and becomes a
// previous version if its body differs. other can be newer than current. All these versions count,
// because crawlers can have fetched each from the instance where it was current.
func mergeVersions(current *Version, past []*Version, other *Version, otherPast []*Version) (merged *Version, previous []*Version) {
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
		// The replacement counts from the first fetch of the current version, or from its own last fetch
		// if that is later. A longer grace harms no crawler.
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

// sortByReplacedAt sorts previous versions, the last replaced first.
func sortByReplacedAt(previous []*Version) {
	slices.SortStableFunc(previous, func(a, b *Version) int { return b.ReplacedAt.Compare(a.ReplacedAt) })
}

// Restore merges a stored state, or the state of another instance, into the entry of a key. It adds
// a missing entry if the segment is not full, and evicts entries only if the merged files exceed
// the bound in bytes. Restore reports whether the version of other is now the current version.
//
// If the entry's copy is fresh and preferNewest is false, the copy stays the current version, even
// if other has a newer version. Otherwise a site with varying responses would change its copy all
// the time. A stored host that only clients name is protected from eviction by unused hosts.
func (c *Cache) Restore(key Key, segment Segment, other State, preferNewest bool) bool {
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
	// No fetch begins, and MakeDue waits. A running fetch can end at any time, and its result is
	// merged.
	e.mu.Lock()
	defer e.mu.Unlock()
	for {
		var before State
		oldState := e.state.Load()
		if oldState != nil {
			before = *oldState
		}
		var next State
		if isFresh := before.Current != nil && before.FailureCount == 0 && now.Before(before.NextFetch); isFresh && !preferNewest {
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
			if derived := c.computeDerived(v.Robots); derived != nil { // A nil result is not assigned, because other goroutines may read v.
				v.Derived = derived
			}
		}
		if e.compareAndSwapState(oldState, &next) {
			if next.FailureCount == 0 && e.IsPossiblyChanged() {
				e.recheckAt.CompareAndSwap(0, now.UnixNano()) // The fetch of the other instance may precede the mark.
			}
			return before.Current == nil || !next.Current.LastFetched.Equal(before.Current.LastFetched)
		}
	}
}

// hasNewVersions reports whether previous has a version that existing lacks, by its body or by a
// later ReplacedAt. Differences within the clock tolerance do not count, so that two instances do
// not update each other forever.
func hasNewVersions(previous, existing []*Version) bool {
	return !slices.EqualFunc(previous, existing, func(a, b *Version) bool { return a.Hash == b.Hash && a.ReplacedAt.Sub(b.ReplacedAt) <= clockSkew })
}

// promote moves an entry to the protected queue, as if the entry had been used in several seconds.
func (c *Cache) promote(e *Entry) {
	e.usedSeconds.Store(protectedUsedSeconds)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Get(e.key) == e && !e.protected {
		c.segments[e.segment].queues.promote(e)
	}
}

// isFull reports whether a segment has no room for another entry, so that GetOrCreate would evict
// one.
func (c *Cache) isFull(s Segment) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	seg := c.segments[s]
	return seg.queues.len() >= seg.bounds.Entries || seg.versions.bytes >= seg.bounds.Bytes
}

// Resize changes the bounds of a segment, and evicts entries beyond the new bounds, unused entries
// first.
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

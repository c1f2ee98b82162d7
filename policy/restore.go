package policy

import (
	"crypto/sha256"
	"slices"
	"time"
)

// clockSkew is the tolerated difference between the clocks of two machines.
const clockSkew = 5 * time.Minute

// Adopt merges a stored state, or the state of another instance, into s. The version that was
// fetched last is the current version. The other version becomes a previous version if its content
// differs. The times of other may be wrong:
//
//   - A version that is too old to be used is ignored.
//   - A version fetched in the future, by a clock that was set back later, is ignored if s has a
//     version. Otherwise it has the fetch time now, and is due.
//   - A previous version that ended in the future ends at the last fetch of the current version of
//     other, at the latest.
func (s State) Adopt(other State, now time.Time) State {
	if other.isAhead(now) {
		if s.Good != nil {
			return s
		}
		other = other.readBy(now)
	}
	o := other.Good
	if o == nil || now.Sub(o.LastRead) >= MaxUnreachable {
		return s
	}
	other.Past = endedBy(other.Past, o.LastRead, now)
	switch {
	case s.Good == nil:
		next := s
		next.Good, next.Past = o, other.Past
		if s.Failures == 0 {
			next.Via, next.Due, next.Last = other.Via, other.Due, other.Last
		}
		return next
	case o.LastRead.After(s.Good.LastRead):
		next := State{Via: other.Via, Due: other.Due, Last: other.Last}
		if !o.LastRead.After(s.FailingSince) {
			next = s // neither side has fetched since
		}
		next.Good, next.Past = mergeVersions(o, other.Past, s.Good, s.Past)
		return next
	}
	next := s
	next.Good, next.Past = mergeVersions(s.Good, s.Past, o, other.Past)
	return next
}

// isAhead reports whether the current version was fetched in the future, by a wrong clock.
func (s *State) isAhead(now time.Time) bool {
	return s.Good != nil && s.Good.LastRead.After(now.Add(clockSkew))
}

// readBy returns the state with a fetch time of the current version no later than now. The state is
// due.
func (s State) readBy(now time.Time) State {
	read := *s.Good
	if read.LastRead = now; read.FirstRead.After(now) {
		read.FirstRead = now
	}
	s.Good, s.Due = &read, now
	return s
}

// endedBy returns the versions, with future ends replaced by latest.
func endedBy(past []*Version, latest, now time.Time) []*Version {
	future := now.Add(clockSkew)
	isWrong := func(v *Version) bool { return v.Until.After(future) }
	if !slices.ContainsFunc(past, isWrong) {
		return past
	}
	past = slices.Clone(past)
	for i, v := range past {
		if isWrong(v) {
			ended := *v
			for _, t := range []*time.Time{&ended.FirstRead, &ended.LastRead, &ended.Until} {
				if t.After(latest) {
					*t = latest
				}
			}
			past[i] = &ended
		}
	}
	sortPast(past)
	return past
}

// mergeVersions adds an older version and its past to a current version and its past. Crawlers
// may have fetched each of them at the instance where it was current.
func mergeVersions(current *Version, past []*Version, older *Version, olderPast []*Version) (*Version, []*Version) {
	all := slices.Concat(past, olderPast)
	if older.Hash == current.Hash {
		if older.FirstRead.Before(current.FirstRead) || older.Served && !current.Served {
			merged := *current
			if older.FirstRead.Before(merged.FirstRead) {
				merged.FirstRead = older.FirstRead
			}
			merged.Served = merged.Served || older.Served
			current = &merged
		}
	} else {
		// Its end is the first fetch of the current version. A longer grace harms no crawler.
		retired := *older
		retired.Until = current.FirstRead
		if retired.Until.Before(retired.LastRead) {
			retired.Until = retired.LastRead
		}
		all = append(all, &retired)
	}
	sortPast(all)
	known := map[[sha256.Size]byte]bool{current.Hash: true}
	all = slices.DeleteFunc(all, func(v *Version) bool {
		again := known[v.Hash]
		known[v.Hash] = true
		return again
	})
	return current, all[:min(len(all), MaxVersions)]
}

// sortPast sorts versions by their end, latest first.
func sortPast(past []*Version) {
	slices.SortStableFunc(past, func(a, b *Version) int { return b.Until.Compare(a.Until) })
}

// Restore adds a stored state, or the state of another instance. A fresh copy stays the
// current version unless newest is set. A newer copy of other then becomes a previous
// version, so that a site with varying responses does not change its copy all the time. A
// host that only clients name is proven by its stored state, see [ProvenUses]. Restore evicts
// no entry, and ignores sites without room. It reports whether the current version is now the
// version of other.
func (c *Cache) Restore(key Key, segment Segment, other State, newest bool) bool {
	now := c.now()
	if (State{}).Adopt(other, now).Good == nil {
		return false
	}
	e := c.Get(key)
	if e == nil {
		if c.full(segment) {
			return false
		}
		e = c.Add(key, segment)
	}
	if e.segment == Invented {
		c.prove(e)
	}
	// No fetch begins and MakeDue waits. A running fetch can end at any time, and its result
	// is merged.
	e.mu.Lock()
	defer e.mu.Unlock()
	for {
		var before State
		known := e.state.Load()
		if known != nil {
			before = *known
		}
		next := before.Adopt(other, now)
		fresh := before.Good != nil && before.Failures == 0 && now.Before(before.Due)
		if fresh && !newest && !other.isAhead(now) && other.Good.LastRead.After(before.Good.LastRead) {
			next = before
			next.Good, next.Past = mergeVersions(before.Good, before.Past, other.Good, other.Past)
		}
		if next.Good == before.Good && !isNews(next.Past, before.Past) {
			return false
		}
		for _, v := range append([]*Version{next.Good}, next.Past...) {
			if v.Derived != nil {
				continue
			}
			if derived := c.derive(v.Robots); derived != nil { // otherwise other goroutines may read v
				v.Derived = derived
			}
		}
		if e.replace(known, &next) {
			return before.Good == nil || !next.Good.LastRead.Equal(before.Good.LastRead)
		}
	}
}

// isNews reports whether versions contain another file, or a longer use of a known one. It
// ignores differences within the clock tolerance, so that two instances do not update each
// other forever.
func isNews(past, known []*Version) bool {
	return !slices.EqualFunc(past, known, func(a, b *Version) bool { return a.Hash == b.Hash && a.Until.Sub(b.Until) <= clockSkew })
}

// prove marks an entry as used in [ProvenUses] seconds.
func (c *Cache) prove(e *Entry) {
	for n := e.uses.Load(); n < ProvenUses && !e.uses.CompareAndSwap(n, ProvenUses); n = e.uses.Load() {
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Get(e.key) == e && !e.proven {
		c.kept[e.segment].order.prove(e)
	}
}

// full reports whether a new entry would evict another.
func (c *Cache) full(s Segment) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := c.kept[s]
	return kept.order.len() >= kept.bounds.Entries || kept.texts.bytes >= kept.bounds.Bytes
}

// Resize changes the bounds of a segment and evicts the least recently used entries beyond
// them.
func (c *Cache) Resize(s Segment, b Bounds) {
	b.Entries, b.Reads = max(b.Entries, 1), max(b.Reads, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := c.kept[s]
	kept.bounds = b
	for kept.order.len() > b.Entries {
		c.evict(kept, kept.order.evict(b.Entries))
	}
	c.shrink(kept)
}

package policy

import (
	"crypto/sha256"
	"slices"
)

// sharedVersions lets all sites with the same body share one parsed and compiled robots.txt, and
// counts the memory of each body once.
type sharedVersions struct {
	byHash map[[sha256.Size]byte]*sharedVersion
	bytes  int // bytes is the estimated memory of all bodies, by Robots.Size.
}

// sharedVersion is the parsed robots.txt of one body, with the number of versions that use it.
type sharedVersion struct {
	robots    *Robots
	derived   any
	userCount int
	size      int
}

// acquire adds v to the users of its body. It returns v, or a copy of v with the shared Robots and
// Derived. It does not write v, because v may also be in a state of another segment, which other
// goroutines read.
func (t *sharedVersions) acquire(v *Version) *Version {
	shared := t.byHash[v.Hash]
	if shared == nil {
		shared = &sharedVersion{robots: v.Robots, derived: v.Derived, size: v.Robots.Size()}
		t.byHash[v.Hash] = shared
		t.bytes += shared.size
	}
	shared.userCount++
	if v.Robots == shared.robots {
		return v
	}
	same := *v
	same.Robots, same.Derived = shared.robots, shared.derived
	return &same
}

// release removes v from the users of its body, and forgets a body without users.
func (t *sharedVersions) release(v *Version) {
	if shared := t.byHash[v.Hash]; shared != nil {
		if shared.userCount--; shared.userCount == 0 {
			delete(t.byHash, v.Hash)
			t.bytes -= shared.size
		}
	}
}

// acquireAll replaces the current and the previous versions of a state, which must have a current
// version, by the results of acquire.
func (t *sharedVersions) acquireAll(s *State) {
	s.Current, s.Previous = t.acquire(s.Current), slices.Clone(s.Previous)
	for i, v := range s.Previous {
		s.Previous[i] = t.acquire(v)
	}
}

// releaseAll calls release for the current and the previous versions of a state. The state can be
// nil or have no version.
func (t *sharedVersions) releaseAll(s *State) {
	if s == nil || s.Current == nil {
		return
	}
	t.release(s.Current)
	for _, v := range s.Previous {
		t.release(v)
	}
}

// sizeOf returns the estimated memory of all versions of a state, or 0 for nil or a state without a
// version.
func (t *sharedVersions) sizeOf(s *State) (size int) {
	if s == nil || s.Current == nil {
		return 0
	}
	size = t.byHash[s.Current.Hash].size
	for _, v := range s.Previous {
		size += t.byHash[v.Hash].size
	}
	return size
}

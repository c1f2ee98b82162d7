package policy

import "crypto/sha256"

// sharedVersions shares one compiled policy between all sites with the same file.
type sharedVersions struct {
	byHash map[[sha256.Size]byte]*sharedVersion
	bytes  int // estimated memory of all files
}

type sharedVersion struct {
	robots   *Robots
	derived  any
	numUsers int
	size     int
}

// acquire adds a user of a file and makes the version share its policy.
func (t *sharedVersions) acquire(v *Version) {
	shared := t.byHash[v.Hash]
	if shared == nil {
		shared = &sharedVersion{robots: v.Robots, derived: v.Derived, size: v.Robots.Size()}
		t.byHash[v.Hash] = shared
		t.bytes += shared.size
	}
	shared.numUsers++
	if v.Robots != shared.robots { // otherwise other goroutines may read v
		v.Robots, v.Derived = shared.robots, shared.derived
	}
}

// release removes a user.
func (t *sharedVersions) release(v *Version) {
	if shared := t.byHash[v.Hash]; shared != nil {
		if shared.numUsers--; shared.numUsers == 0 {
			delete(t.byHash, v.Hash)
			t.bytes -= shared.size
		}
	}
}

// acquireAll calls acquire for all versions of a state.
func (t *sharedVersions) acquireAll(s *State) {
	t.acquire(s.Current)
	for _, v := range s.Previous {
		t.acquire(v)
	}
}

// releaseAll is the inverse of acquireAll. The state can be nil or empty.
func (t *sharedVersions) releaseAll(s *State) {
	if s == nil || s.Current == nil {
		return
	}
	t.release(s.Current)
	for _, v := range s.Previous {
		t.release(v)
	}
}

// sizeOf returns the estimated memory of all versions of a state, or 0 for nil.
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

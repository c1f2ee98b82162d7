package policy

import "crypto/sha256"

// texts shares one compiled policy between all sites with the same file.
type texts struct {
	byHash map[[sha256.Size]byte]*sharedText
	bytes  int // estimated memory of all files
}

type sharedText struct {
	robots  *Robots
	derived any
	users   int
	size    int
}

// keep adds a user of a file and makes the version share its policy.
func (t *texts) keep(v *Version) {
	shared := t.byHash[v.Hash]
	if shared == nil {
		shared = &sharedText{robots: v.Robots, derived: v.Derived, size: v.Robots.Size()}
		t.byHash[v.Hash] = shared
		t.bytes += shared.size
	}
	shared.users++
	if v.Robots != shared.robots { // otherwise other goroutines may read v
		v.Robots, v.Derived = shared.robots, shared.derived
	}
}

// release removes a user.
func (t *texts) release(v *Version) {
	if shared := t.byHash[v.Hash]; shared != nil {
		if shared.users--; shared.users == 0 {
			delete(t.byHash, v.Hash)
			t.bytes -= shared.size
		}
	}
}

// keepAll calls keep for all versions of a state.
func (t *texts) keepAll(s *State) {
	t.keep(s.Good)
	for _, v := range s.Past {
		t.keep(v)
	}
}

// releaseAll is the inverse of keepAll. The state can be nil or empty.
func (t *texts) releaseAll(s *State) {
	if s == nil || s.Good == nil {
		return
	}
	t.release(s.Good)
	for _, v := range s.Past {
		t.release(v)
	}
}

// sizeOf returns the estimated memory of all versions of a state, or 0 for nil.
func (t *texts) sizeOf(s *State) (size int) {
	if s == nil || s.Good == nil {
		return 0
	}
	size = t.byHash[s.Good.Hash].size
	for _, v := range s.Past {
		size += t.byHash[v.Hash].size
	}
	return size
}

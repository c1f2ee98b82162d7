package remote

import "slices"

// Users is a list of users of a source. The caller must lock it.
type Users[U any] struct{ users []*U }

// Add adds a user.
func (s *Users[U]) Add(u *U) { s.users = append(s.users, u) }

// Remove removes a user.
func (s *Users[U]) Remove(u *U) {
	if i := slices.Index(s.users, u); i >= 0 {
		s.users = slices.Delete(slices.Clone(s.users), i, i+1)
	}
}

// First returns the user that logs messages, or nil.
func (s *Users[U]) First() *U {
	if len(s.users) == 0 {
		return nil
	}
	return s.users[0]
}

// All returns all users in order of addition.
func (s *Users[U]) All() []*U { return slices.Clone(s.users) }

package remote

import "slices"

// Users are who use a text, each until it is released. They need a lock of their owner's.
type Users[U any] struct{ all []*U }

// Add adds a user.
func (s *Users[U]) Add(u *U) { s.all = append(s.all, u) }

// Remove takes a user away that was added.
func (s *Users[U]) Remove(u *U) {
	if i := slices.Index(s.all, u); i >= 0 {
		s.all = slices.Delete(slices.Clone(s.all), i, i+1)
	}
}

// First returns the user that tells the owner, nil for none.
func (s *Users[U]) First() *U {
	if len(s.all) == 0 {
		return nil
	}
	return s.all[0]
}

// All returns all of them, the first first.
func (s *Users[U]) All() []*U { return slices.Clone(s.all) }

package publish

import "sync"

// Sites are what this instance knows of the sites of its configurations. The zero
// Sites is empty.
type Sites struct {
	mu    sync.Mutex
	sites map[string]*used
}

// used is a site with how many configurations have it.
type used struct {
	*Site
	by int
}

// Use returns the site of a name, the same as for the configuration before. When
// nobody uses it any more it is forgotten.
func (s *Sites) Use(name string) (site *Site, release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sites == nil {
		s.sites = make(map[string]*used)
	}
	u := s.sites[name]
	if u == nil {
		u = &used{Site: NewSite()}
		s.sites[name] = u
	}
	u.by++
	return u.Site, sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if u.by--; u.by == 0 {
			delete(s.sites, name)
		}
	})
}

// States returns what is known of each site, by name.
func (s *Sites) States() map[string]State {
	s.mu.Lock()
	defer s.mu.Unlock()
	states := make(map[string]State, len(s.sites))
	for name, u := range s.sites {
		if state, known := u.State(); known {
			states[name] = state
		}
	}
	return states
}

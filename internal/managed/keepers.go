package managed

import "sync"

// Keepers are those of the sites of this instance, by name. The zero Keepers is empty.
type Keepers struct {
	mu  sync.Mutex
	all map[string]*usedKeeper
}

// usedKeeper is a Keeper with how many configurations have it.
type usedKeeper struct {
	Keeper
	by int
}

// Use returns the Keeper of a name, the same as for the configuration before. When
// nobody uses it any more it is forgotten.
func (s *Keepers) Use(name string) (k *Keeper, release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = make(map[string]*usedKeeper)
	}
	u := s.all[name]
	if u == nil {
		u = new(usedKeeper)
		s.all[name] = u
	}
	u.by++
	return &u.Keeper, sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if u.by--; u.by == 0 {
			delete(s.all, name)
		}
	})
}

// Keep has a Keeper say from now on which version of each base is under the rules.
func (p *Publisher) Keep(k *Keeper) { p.keeper.Store(k) }

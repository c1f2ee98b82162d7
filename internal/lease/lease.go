package lease

import (
	"slices"
	"sync"
)

// Leases are what running configurations ask for of something that they share.
// Two of them run while one takes over from the other, and the new one may fail
// yet: the last that still runs decides.
type Leases[T any] struct {
	mu   sync.Mutex
	last uint64
	held []lease[T]
}

// lease is one of them.
type lease[T any] struct {
	id   uint64
	what T
}

// Add makes apply use what until it is released by the returned ID. If apply
// fails, what was in use before is still.
func (l *Leases[T]) Add(what T, apply func(T) error) (id uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := apply(what); err != nil {
		return 0, err
	}
	l.last++
	l.held = append(l.held, lease[T]{l.last, what})
	return l.last, nil
}

// Release makes apply use what the last of the others asks for, the zero value
// where there is none. It does nothing for an ID that is not held.
func (l *Leases[T]) Release(id uint64, apply func(T) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.held, func(held lease[T]) bool { return held.id == id })
	if i < 0 {
		return nil
	}
	decided := i == len(l.held)-1
	l.held = slices.Delete(l.held, i, i+1)
	if !decided {
		return nil
	}
	var next T
	if len(l.held) > 0 {
		next = l.held[len(l.held)-1].what
	}
	return apply(next)
}

// Given returns how many there were, those that have ended included.
func (l *Leases[T]) Given() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

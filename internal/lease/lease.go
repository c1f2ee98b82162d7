package lease

import (
	"slices"
	"sync"
)

// Leases are the requests of running configurations for shared state. During a reload two configurations
// run, and the new one may still fail: the latest that runs decides.
type Leases[T any] struct {
	mu   sync.Mutex
	last uint64
	held []lease[T]
}

// lease is the request of one configuration.
type lease[T any] struct {
	id   uint64
	what T
}

// Add applies what until Release is called with the returned ID. If apply fails, the previous request stays
// in use.
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

// Release applies the latest of the other requests, or the zero value if there is none. It has no effect for
// an unknown ID.
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

// Given returns the number of requests so far, including released ones.
func (l *Leases[T]) Given() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

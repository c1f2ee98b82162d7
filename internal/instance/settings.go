package lease

import (
	"slices"
	"sync"
)

// Requests are the requests of running configurations for shared state. During a reload two configurations
// run, and the new one may still fail: the latest that runs decides.
type Requests[T any] struct {
	mu     sync.Mutex
	last   uint64
	active []request[T]
}

// request is the request of one configuration.
type request[T any] struct {
	id    uint64
	value T
}

// Add applies what until Release is called with the returned ID. If apply fails, the previous request stays
// in use.
func (l *Requests[T]) Add(what T, apply func(T) error) (id uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := apply(what); err != nil {
		return 0, err
	}
	l.last++
	l.active = append(l.active, request[T]{l.last, what})
	return l.last, nil
}

// Release applies the latest of the other requests, or the zero value if there is none. It has no effect for
// an unknown ID.
func (l *Requests[T]) Release(id uint64, apply func(T) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.active, func(held request[T]) bool { return held.id == id })
	if i < 0 {
		return nil
	}
	decided := i == len(l.active)-1
	l.active = slices.Delete(l.active, i, i+1)
	if !decided {
		return nil
	}
	var next T
	if len(l.active) > 0 {
		next = l.active[len(l.active)-1].value
	}
	return apply(next)
}

// LastID returns the number of requests so far, including released ones.
func (l *Requests[T]) LastID() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

package caddymodule

import (
	"slices"
	"sync"
)

// claims are what running configurations ask for of something that they share.
// Two of them run while one takes over from the other, and the new one may fail
// yet: the last that still runs decides.
type claims[T any] struct {
	mu   sync.Mutex
	last uint64
	held []claimed[T]
}

type claimed[T any] struct {
	id   uint64
	what T
}

// add makes apply use what until it is released by the returned ID. If apply
// fails, what was in use before is still.
func (c *claims[T]) add(what T, apply func(T) error) (id uint64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := apply(what); err != nil {
		return 0, err
	}
	c.last++
	c.held = append(c.held, claimed[T]{c.last, what})
	return c.last, nil
}

// release makes apply use what the last of the others asks for, the zero value
// where there is none. It does nothing for an ID that is not held.
func (c *claims[T]) release(id uint64, apply func(T) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.held, func(held claimed[T]) bool { return held.id == id })
	if i < 0 {
		return nil
	}
	decided := i == len(c.held)-1
	c.held = slices.Delete(c.held, i, i+1)
	if !decided {
		return nil
	}
	var next T
	if len(c.held) > 0 {
		next = c.held[len(c.held)-1].what
	}
	return apply(next)
}

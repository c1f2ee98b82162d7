package main

import "sync"

// fact is something about the world that changes while requests are under way:
// a text, a state, a configuration. A change takes time; until it is settled,
// both the old and the new value may be seen.
type fact[T any] struct {
	mu      sync.Mutex
	values  []T // all there were, the last one current or about to be
	settled int // index of the oldest one that may still be seen
}

func newFact[T any](first T) *fact[T] { return &fact[T]{values: []T{first}} }

// change sets another value, makes the world follow, and returns once it does.
// One goroutine at a time may change a fact.
func (f *fact[T]) change(next T, follow func()) {
	f.mu.Lock()
	f.values = append(f.values, next)
	last := len(f.values) - 1
	f.mu.Unlock()
	follow()
	f.mu.Lock()
	f.settled = last
	f.mu.Unlock()
}

// mark returns the moment to ask since about later.
func (f *fact[T]) mark() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.settled
}

// since returns every value that may have been seen since then.
func (f *fact[T]) since(mark int) []T {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]T(nil), f.values[mark:]...)
}

// last returns the newest value.
func (f *fact[T]) last() T {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.values[len(f.values)-1]
}

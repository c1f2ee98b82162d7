// Package reload applies settings of configurations to state that survives a reload.
package reload

import (
	"slices"
	"sync"
)

// Settings has the settings of the running configurations for their shared state. During a reload
// two configurations run, and the new configuration may still fail. The settings of the latest
// running configuration apply. The zero value has no settings. Settings is safe for concurrent use.
type Settings[T any] struct {
	mu     sync.Mutex
	uses   uint64
	active []*T // the latest at the end
}

// Use applies the settings of a configuration until release is called. If apply fails, the previous
// settings still apply. release applies the latest other settings, or the zero value if no settings
// remain. Later calls of release do nothing.
func (s *Settings[T]) Use(value T, apply func(T) error) (release func() error, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := apply(value); err != nil {
		return func() error { return nil }, err
	}
	s.uses++
	used := &value
	s.active = append(s.active, used)
	return func() error { return s.release(used, apply) }, nil
}

func (s *Settings[T]) release(used *T, apply func(T) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.active, used)
	if i < 0 {
		return nil
	}
	isLatest := i == len(s.active)-1
	s.active = slices.Delete(s.active, i, i+1)
	if !isLatest {
		return nil
	}
	var next T
	if len(s.active) > 0 {
		next = *s.active[len(s.active)-1]
	}
	return apply(next)
}

// Uses returns the number of applied settings, including released settings.
func (s *Settings[T]) Uses() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.uses
}

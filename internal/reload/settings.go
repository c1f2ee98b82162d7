// Package reload applies settings of configurations to state that survives a reload.
package reload

import (
	"slices"
	"sync"
)

// ActiveSettings has the settings of the running configurations for state that all of them share.
// During a reload two configurations run, and the new configuration may still fail. The settings of
// the latest running configuration apply. The zero value has no settings. ActiveSettings is safe
// for concurrent use.
type ActiveSettings[T any] struct {
	mu             sync.Mutex
	applyCount     uint64
	activeSettings []*T // The latest settings are at the end.
}

// Apply applies the settings of a configuration until release is called. If apply returns an error,
// the settings are not recorded. apply must then have changed nothing. If the released settings are
// the latest, release applies the latest remaining settings, or the zero value if no settings
// remain. Later calls of release do nothing.
func (s *ActiveSettings[T]) Apply(value T, apply func(T) error) (release func() error, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := apply(value); err != nil {
		return func() error { return nil }, err
	}
	s.applyCount++
	used := &value
	s.activeSettings = append(s.activeSettings, used)
	return func() error { return s.release(used, apply) }, nil
}

func (s *ActiveSettings[T]) release(used *T, apply func(T) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.activeSettings, used)
	if i < 0 {
		return nil
	}
	isLatest := i == len(s.activeSettings)-1
	s.activeSettings = slices.Delete(s.activeSettings, i, i+1)
	if !isLatest {
		return nil
	}
	var next T
	if len(s.activeSettings) > 0 {
		next = *s.activeSettings[len(s.activeSettings)-1]
	}
	return apply(next)
}

// ApplyCount returns the number of successful calls of [ActiveSettings.Apply].
func (s *ActiveSettings[T]) ApplyCount() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.applyCount
}

package uaident

import "sync/atomic"

// CurrentRegistry holds the registry in use, which can be replaced at any time. A caller may
// continue to use a previous registry. Load takes no lock.
type CurrentRegistry struct{ registry atomic.Pointer[Registry] }

// NewCurrentRegistry returns a CurrentRegistry that holds r. r must not be nil.
func NewCurrentRegistry(r *Registry) *CurrentRegistry {
	c := new(CurrentRegistry)
	c.registry.Store(r)
	return c
}

// Load returns the registry in use.
func (c *CurrentRegistry) Load() *Registry { return c.registry.Load() }

// Replace puts another registry into use. r must not be nil.
func (c *CurrentRegistry) Replace(r *Registry) { c.registry.Store(r) }

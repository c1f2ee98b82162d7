package uaident

import "sync/atomic"

// Current holds the registry in use, which can be replaced at any time. A caller may continue
// to use a registry that it loaded before. Load takes no lock.
type Current struct{ registry atomic.Pointer[Registry] }

// NewCurrent returns a Current with r, which must not be nil.
func NewCurrent(r *Registry) *Current {
	c := new(Current)
	c.registry.Store(r)
	return c
}

// Load returns the registry in use.
func (c *Current) Load() *Registry { return c.registry.Load() }

// Replace puts another registry into use. r must not be nil.
func (c *Current) Replace(r *Registry) { c.registry.Store(r) }

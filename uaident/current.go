package uaident

import "sync/atomic"

// Current is the registry that is in use now: another one may take its place at any
// time, and whoever has loaded one may go on with it. Loading takes no lock.
type Current struct{ registry atomic.Pointer[Registry] }

// NewCurrent returns a Current that has r, which must not be nil.
func NewCurrent(r *Registry) *Current {
	c := new(Current)
	c.registry.Store(r)
	return c
}

// Load returns the registry in use.
func (c *Current) Load() *Registry { return c.registry.Load() }

// Replace takes another registry, which must not be nil, into use.
func (c *Current) Replace(r *Registry) { c.registry.Store(r) }

package caddymodule

import "github.com/robotsguard/caddy-robots-guard/policy"

// resize bounds the policies of named sites, by default if policies is 0. It
// returns no error.
func (s *state) resize(policies int) error {
	bounds := namedBounds
	if policies > 0 {
		bounds.Entries = policies
		// Each site has its share of the memory, however many there may be.
		bounds.Bytes = max(bounds.Bytes, namedBounds.Bytes/namedBounds.Entries*bounds.Entries)
	}
	s.cache.Resize(policy.Named, bounds)
	return nil
}

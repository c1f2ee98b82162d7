package caddymodule

import "github.com/robotsguard/caddy-robots-guard/policy"

// sizes are how many policies are kept; 0 stands for the default.
type sizes struct {
	policies     int // of sites that the configuration names
	unnamedHosts int // of hosts that it does not
	unnamedReads int // attempts to read one of these at the same time
}

// resize bounds the cache. It returns no error.
func (s *state) resize(to sizes) error {
	s.cache.Resize(policy.Named, enlarged(namedBounds, to.policies))
	unnamed := enlarged(inventedBounds, to.unnamedHosts)
	if to.unnamedReads > 0 {
		unnamed.Reads = to.unnamedReads
	}
	s.cache.Resize(policy.Invented, unnamed)
	return nil
}

// enlarged returns bounds for so many entries. Each has its share of the memory,
// however many there may be.
func enlarged(b policy.Bounds, entries int) policy.Bounds {
	if entries > 0 {
		b.Bytes = max(b.Bytes, b.Bytes/b.Entries*entries)
		b.Entries = entries
	}
	return b
}

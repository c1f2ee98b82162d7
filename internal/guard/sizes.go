package guard

import (
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Sizes are how many policies are kept; 0 stands for the default.
type Sizes struct {
	Policies     int // of sites that the configuration names
	UnnamedHosts int // of hosts that it does not
	UnnamedReads int // attempts to read one of these at the same time
}

// Size bounds the cache for a configuration until release is called.
func (s *State) Size(to Sizes) (release func()) {
	id, _ := s.sizes.Add(to, s.resize) // which returns no error
	return func() { _ = s.sizes.Release(id, s.resize) }
}

// Retain sets for how long the ledger is kept for a configuration until release is
// called, by default if retention is 0.
func (s *State) Retain(retention time.Duration) (release func()) {
	apply := func(retention time.Duration) error {
		s.Ledger.Retain(retention)
		return nil
	}
	id, _ := s.retentions.Add(retention, apply)
	return func() { _ = s.retentions.Release(id, apply) }
}

// KeepHistory says for a configuration whether what is known outlives a restart,
// until release is called.
func (s *State) KeepHistory(h report.History) (release func()) {
	apply := func(h report.History) error {
		s.history.Store(&h)
		return nil
	}
	id, _ := s.histories.Add(h, apply)
	return func() { _ = s.histories.Release(id, apply) }
}

// resize bounds the cache. It returns no error.
func (s *State) resize(to Sizes) error {
	s.Cache.Resize(policy.Named, enlarged(NamedBounds, to.Policies))
	unnamed := enlarged(inventedBounds, to.UnnamedHosts)
	if to.UnnamedReads > 0 {
		unnamed.Reads = to.UnnamedReads
	}
	s.Cache.Resize(policy.Invented, unnamed)
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

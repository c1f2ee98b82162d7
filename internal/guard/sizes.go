package guard

import (
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Sizes are how many policies are kept; 0 stands for the default.
type Sizes struct {
	Policies     int // of sites that the configuration names
	UnnamedHosts int // of hosts that it does not
	UnnamedReads int // attempts to read one of these at the same time
}

// PoliciesFor returns for how many sites that the configuration names policies are kept, where
// it says for how many, 0 if it does not, and has guards for so many hosts. With less than one
// for each the robots.txt would be read again for nearly every request, and what crawlers have
// read be forgotten.
func PoliciesFor(configured, hosts int, logger *zap.Logger) int {
	if configured == 0 {
		return max(NamedBounds.Entries, 2*hosts) // with http and https each is two sites
	}
	if configured < hosts {
		logger.Warn("policies is less than there are hosts with a guard, so that the robots.txt of some is forgotten and read again all the time; "+
			"remove policies, or raise it", zap.Int("policies", configured), zap.Int("hosts", hosts))
	}
	return configured
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
	named := enlarged(NamedBounds, to.Policies)
	s.Cache.Resize(policy.Named, named)
	s.Bases.Resize(policy.Named, named)
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

package guard

import (
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Sizes has the bounds of the cache of robots.txt; 0 means the default.
type Sizes struct {
	Policies     int // configured sites
	UnnamedHosts int // unknown hosts
	UnnamedReads int // concurrent fetches for unknown hosts
}

// PoliciesFor returns the bound for configured sites. configured is the option, 0 for none, and hosts is
// the number of hosts with a guard. A bound below hosts causes constant fetches, so it logs a warning.
func PoliciesFor(configured, hosts int, logger *zap.Logger) int {
	if configured == 0 {
		return max(NamedBounds.Entries, 2*hosts) // with http and https each is two sites
	}
	if configured < hosts {
		logger.Warn("policies is below the number of hosts with a guard, so robots.txt files are evicted and fetched again all the time; "+
			"remove policies, or raise it", zap.Int("policies", configured), zap.Int("hosts", hosts))
	}
	return configured
}

// Size bounds the cache for a configuration until release is called.
func (s *State) Size(to Sizes) (release func()) {
	id, _ := s.sizes.Add(to, s.resize) // which returns no error
	return func() { _ = s.sizes.Release(id, s.resize) }
}

// Retain sets the retention of the ledger for a configuration until release is called; 0 means the
// default.
func (s *State) Retain(retention time.Duration) (release func()) {
	apply := func(retention time.Duration) error {
		s.Ledger.Retain(retention)
		return nil
	}
	id, _ := s.retentions.Add(retention, apply)
	return func() { _ = s.retentions.Release(id, apply) }
}

// KeepHistory registers a configuration's history setting, which says whether data survive a restart.
// The setting applies until release is called. During a reload the newest setting applies.
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
	s.Cache.Resize(policy.ConfiguredHosts, named)
	s.Bases.Resize(policy.ConfiguredHosts, named)
	unnamed := enlarged(inventedBounds, to.UnnamedHosts)
	if to.UnnamedReads > 0 {
		unnamed.ConcurrentFetches = to.UnnamedReads
	}
	s.Cache.Resize(policy.UnknownHosts, unnamed)
	return nil
}

// enlarged returns bounds for a number of entries, with the same memory for each entry.
func enlarged(b policy.Bounds, entries int) policy.Bounds {
	if entries > 0 {
		b.Bytes = max(b.Bytes, b.Bytes/b.Entries*entries)
		b.Entries = entries
	}
	return b
}

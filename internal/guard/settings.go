package guard

import (
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// CacheSizes has the bounds of the cache of robots.txt files. 0 means the default.
type CacheSizes struct {
	MaxPolicies        int // MaxPolicies is the maximum number of configured sites.
	UnknownHosts       int // UnknownHosts is the maximum number of unknown hosts.
	UnknownHostFetches int // UnknownHostFetches is the maximum number of concurrent fetches for unknown hosts.
}

// MaxPoliciesFor returns the maximum number of cached robots.txt files of configured sites.
// configured is the option policies, 0 for none. hosts is the number of hosts with a guard. A
// maximum below hosts causes constant fetches, so MaxPoliciesFor logs a warning.
func MaxPoliciesFor(configured, hosts int, logger *zap.Logger) int {
	if configured == 0 {
		return max(ConfiguredHostBounds.Entries, 2*hosts) // With http and https, each host is two sites.
	}
	if configured < hosts {
		logger.Warn("the option policies is below the number of hosts with a guard, so robots.txt files are evicted and fetched again all the time; "+
			"remove the option, or raise its value", zap.Int("policies", configured), zap.Int("hosts", hosts))
	}
	return configured
}

// Settings has the settings of a configuration that apply to the whole State.
type Settings struct {
	Sites     ConfiguredSites
	Sizes     CacheSizes
	Retention time.Duration            // Retention is the retention of the ledger. 0 means the default.
	History   report.LedgerPersistence // History reports whether data survive a restart.
	Registry  *uaident.CurrentRegistry
}

// UseSettings applies the settings of a configuration until release is called. During a reload the
// newest settings apply.
func (s *State) UseSettings(settings Settings) (release func()) {
	end, _ := s.settings.Apply(settings, s.applySettings) // The method applySettings never returns an error.
	return func() {
		_ = end()
		s.removeUnconfigured() // The last requests of the configuration that has ended may have recorded unconfigured hosts.
	}
}

// applySettings applies settings to the state. applySettings returns no error. The zero Settings
// are for no configuration.
func (s *State) applySettings(settings Settings) error {
	s.resizeCaches(settings.Sizes)
	s.Ledger.SetRetention(settings.Retention)
	s.history.Store(&settings.History)
	if settings.Registry != nil { // This is nil if no configuration is running.
		s.registry.Store(settings.Registry)
	}
	s.siteRecords.configured.Store(&settings.Sites)
	s.removeUnconfigured()
	return nil
}

// resizeCaches sets the bounds of the caches of robots.txt and base files.
func (s *State) resizeCaches(to CacheSizes) {
	named := boundsForEntries(ConfiguredHostBounds, to.MaxPolicies)
	s.Cache.Resize(policy.ConfiguredHosts, named)
	s.Bases.Resize(policy.ConfiguredHosts, named)
	unnamed := boundsForEntries(unknownHostBounds, to.UnknownHosts)
	if to.UnknownHostFetches > 0 {
		unnamed.ConcurrentFetches = to.UnknownHostFetches
	}
	s.Cache.Resize(policy.UnknownHosts, unnamed)
}

// boundsForEntries returns b for another maximum number of entries, with as many bytes for each
// entry, but at least the bytes of b. 0 entries mean b itself.
func boundsForEntries(b policy.Bounds, entries int) policy.Bounds {
	if entries > 0 {
		b.Bytes = max(b.Bytes, b.Bytes/b.Entries*entries)
		b.Entries = entries
	}
	return b
}

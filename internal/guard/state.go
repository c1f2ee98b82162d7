package guard

import (
	"cmp"
	"context"
	"net/http"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/copies"
	"github.com/robotsguard/caddy-robots-guard/internal/identity"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/lint"
	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
	"github.com/robotsguard/caddy-robots-guard/internal/metrics"
	"github.com/robotsguard/caddy-robots-guard/internal/notify"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/internal/registry"
	"github.com/robotsguard/caddy-robots-guard/internal/reload"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/internal/store"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// State has the data of all guards that survive reloads of the configuration. It refers to a
// configuration only while the configuration runs, except to its registry. It stays usable after
// the last handler has released it, because requests may be in flight.
type State struct {
	Cache *policy.Cache // Cache has the robots.txt files of the sites.
	Bases *policy.Cache // Bases has the base files of robots_txt handlers.
	// SiteHistories has the histories of the changes of robots_txt handlers.
	SiteHistories publish.SiteHistories
	// ManagedPublishers has the publishers of the running robots_txt handlers.
	ManagedPublishers publish.RunningPublishers
	Copies            *copies.History // Copies has the files that crawlers may be using.
	// redirectTargets has the redirect targets of robots.txt at other hosts.
	redirectTargets *lru.Cache[string, struct{}]
	Metrics         *metrics.Metrics
	violations      *messageLimits // violations limits log lines about violations.
	violationEvents *messageLimits
	warningLimits   *messageLimits // warningLimits limits warnings by host.
	changeGuard     copies.ChangeGuard
	trials          *robotsTrials
	rates           *rate.Budgets
	clock           clock // clock is the clock of the stopwatches.
	Ledger          *ledger.Ledger
	Alerts          *alert.Manager
	SentAlerts      notify.DeliveryHistory // SentAlerts has the alerts that were sent to receivers.
	siteRecords     siteRecords
	sentAuditEvents sentAuditEvents
	// withheldResponses has responses to crawlers instead of a robots.txt.
	withheldResponses responseaudit.WithheldTracker

	settings reload.ActiveSettings[Settings]
	// history is from the last configuration. It is nil without a history.
	history atomic.Pointer[report.LedgerPersistence]

	Identity *identity.SharedState // Identity is the verifier that all configurations share.

	Unregistered registry.UnregisteredNames // Unregistered has the names of crawlers that the registry lacks.

	Memory *store.Memory // Memory connects the state with the storage.

	registryStatus atomic.Pointer[func() *report.RegistryStatus] // registryStatus is set by SetRegistryStatus.

	lintCache *lint.Cache // lintCache caches reports of lint.
	// registry is the registry of the last configuration. It is nil before the first.
	registry atomic.Pointer[uaident.CurrentRegistry]
	guards   atomic.Int64 // guards is the number of guards since the start.

	sources   sourceGuards
	proxies   seenProxies
	refetches reloadRefetches
}

// Policies returns the cache entries of all sites in any order. A nil State has none.
func (s *State) Policies() []*policy.Entry {
	if s == nil {
		return nil
	}
	return s.Cache.Entries()
}

// CacheStats returns the statistics of one segment of the cache of robots.txt files.
func (s *State) CacheStats(segment policy.Segment) policy.CacheStats { return s.Cache.Stats(segment) }

// HostsWithHold returns the configured hosts where the change guard keeps a previous version in
// force.
func (s *State) HostsWithHold() map[string]bool {
	held := s.changeGuard.HostsWithHold()
	s.siteRecords.removeUnconfiguredHosts(held)
	return held
}

// RecordServedPages makes the guards record the pages served to search engines until ctx ends, for
// [State.ServedPages].
func (s *State) RecordServedPages(ctx context.Context) { s.changeGuard.AddUser(ctx) }

// ServedPages returns the recorded pages recently served to search engines, see
// [State.RecordServedPages].
func (s *State) ServedPages() []ledger.CrawlerVisit { return s.changeGuard.RecentVisits() }

// VerifierStats returns the statistics of the verifier of crawlers.
func (s *State) VerifierStats() verify.Stats { return s.Identity.Verifier.Stats() }

// AddressLists returns the state of each address list of the verifier.
func (s *State) AddressLists() []verify.ListStatus { return s.Identity.Verifier.Lists() }

// SigningKeys returns the number of usable keys for each agent that signs its requests.
func (s *State) SigningKeys() map[string]int { return s.Identity.SigningKeyCounts() }

// Destruct implements caddy.Destructor. The verifier still answers from its cache afterwards.
func (s *State) Destruct() error {
	s.Identity.Verifier.Close()
	return nil
}

// These are the bounds of the cache. Unknown hosts have lower bounds, and cannot evict configured
// sites.
var (
	// ConfiguredHostBounds is the default for configured sites.
	ConfiguredHostBounds = policy.Bounds{Entries: 10_000, Bytes: 256 << 20, ConcurrentFetches: 64}
	unknownHostBounds    = policy.Bounds{Entries: 1_000, Bytes: 32 << 20, ConcurrentFetches: 8}
)

// NewState returns an empty state.
func NewState() *State {
	s := &State{
		Cache:           policy.NewCache(ConfiguredHostBounds, unknownHostBounds, time.Now, newOverlayCache),
		Bases:           policy.NewCache(ConfiguredHostBounds, unknownHostBounds, time.Now, nil),
		Copies:          copies.NewHistory(newOverlayCache),
		redirectTargets: newRedirectTargets(),
		violations:      newLogLimits(time.Now),
		violationEvents: newMessageLimits(time.Now, eventInterval, 1),
		warningLimits:   newLogLimits(time.Now),
		trials:          newTrials(),
		rates:           rate.NewBudgets(time.Now()),
		clock:           newClock(),
		Identity:        identity.NewSharedState(),
		Ledger:          ledger.New(time.Now),
		lintCache:       lint.NewCache(),
	}
	s.Alerts = alert.NewManager(s, time.Now)
	s.Memory = store.NewMemory(s.storedParts())
	s.Metrics = metrics.New(s, store.Kinds(), store.AllReadResults())
	return s
}

// LintFindings returns the lint report of a version of the robots.txt with a key. Each version is
// checked only once.
func (s *State) LintFindings(key policy.Key, v *policy.Version) *lint.Report {
	site := ""
	if key.Source == "" {
		site = key.String()
	}
	return s.lintCache.Report(v, site)
}

// HasRobotsOfConfiguredSite reports whether the robots.txt of at least one configured site is
// cached.
func (s *State) HasRobotsOfConfiguredSite() bool {
	for _, e := range s.Cache.Entries() {
		if state := e.State(); e.Segment() == policy.ConfiguredHosts && state != nil && state.Current != nil {
			return true
		}
	}
	return false
}

// storedParts returns the parts of the state that the storage saves and restores.
func (s *State) storedParts() store.Parts {
	return store.Parts{Policies: s.Cache, Bases: s.Bases, Copies: s.Copies, Changes: &s.changeGuard, Ledger: s.Ledger, AddressLists: s.Identity, Acknowledgements: s.Alerts, SentAlerts: &s.SentAlerts, Rates: s.rates}
}

// awaitStoredData waits until the stored data are loaded, at most for the time most. Caddy starts
// its apps in any order, so requests may come before.
func (s *State) awaitStoredData(r *http.Request, most time.Duration) {
	restored := s.Memory.Restored()
	if restored == nil {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), most)
	defer cancel()
	select {
	case <-restored:
	case <-ctx.Done():
	}
}

// Interface guards
var (
	_ store.Changes      = (*copies.ChangeGuard)(nil)
	_ store.AddressLists = (*identity.SharedState)(nil)
	_ store.Note         = (*alert.Manager)(nil)
	_ store.Note         = (*notify.DeliveryHistory)(nil)
	_ store.Rates        = (*rate.Budgets)(nil)
	_ notify.AlertSource = (*alert.Manager)(nil)

	_ metrics.StateSource = (*State)(nil)
)

// SetRegistryStatus makes [State.Registry] return the results of status until end is called.
func (s *State) SetRegistryStatus(status func() *report.RegistryStatus) (end func()) {
	s.registryStatus.Store(&status)
	return func() { s.registryStatus.CompareAndSwap(&status, nil) }
}

// Registry returns the status of the configured registry file or URL, or nil without one.
func (s *State) Registry() *report.RegistryStatus {
	if s == nil {
		return nil
	}
	if status := s.registryStatus.Load(); status != nil {
		return (*status)()
	}
	return nil
}

// currentRegistry returns the registry of the last configuration, or nil.
func (s *State) currentRegistry() *uaident.Registry {
	if current := s.registry.Load(); current != nil {
		return current.Load()
	}
	return nil
}

// Proposals returns the frequent names of crawlers that are not in the registry. A nil State has
// none.
func (s *State) Proposals() []report.RegistryProposal {
	if s == nil {
		return []report.RegistryProposal{}
	}
	return s.Unregistered.Proposals(cmp.Or(s.currentRegistry(), uaident.Default()))
}

package alert

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

const (
	updateInterval    = time.Minute // updateInterval is the time between two updates by the clock.
	minUpdateInterval = time.Second // minUpdateInterval is the time between two updates by a caller of List.
	// ledgerReadInterval is the time between two reads of the ledger, which is large.
	ledgerReadInterval = 10 * time.Minute

	// These are limits of a list. More alerts that are open or acknowledged come only from the sites
	// of the configuration, because the numbers of alerts that clients can cause have limits of their
	// own.
	maxAlerts      = 500
	maxEndedAlerts = 50
	endedRetention = 24 * time.Hour // endedRetention is the time for which an ended alert is listed.
)

// StateSource provides the state that a [Manager] examines. All methods must be safe for concurrent
// use.
type StateSource interface {
	// SiteStates returns the current state of each site, by name.
	SiteStates() map[string]report.SiteState
	// ManagedSource returns the state of the files that robots_txt serves, or nil without
	// robots_txt.
	ManagedSource() report.ManagedFiles
	// ManagedChanges returns the changes of the files that robots_txt serves, by site.
	ManagedChanges() map[string][]report.ManagedChange
	// AddressLists returns the states of the address lists by which crawlers are verified.
	AddressLists() []verify.ListStatus
	// Registry returns the state of the registry file or URL in the configuration, or nil without
	// one.
	Registry() *report.RegistryStatus
	// Proposals returns the frequent names of clients that are not in the registry, robots first.
	Proposals() []report.RegistryProposal
	// WithheldResponses returns the crawlers that get another response in place of the robots.txt.
	WithheldResponses(now time.Time) []responseaudit.WithheldFinding
	// StorageFailure returns the error of the storage, and the time since which it fails. Both are
	// zero if the storage works, or without a storage.
	StorageFailure() (since time.Time, err error)
	// HasStorage reports whether the configuration has a storage, so that the state survives a
	// restart.
	HasStorage() bool
	// Reports returns the data of the ledger for views. The call is expensive.
	Reports(now time.Time) *report.Source
}

// Manager finds problems and lists them as alerts. It is safe for concurrent use.
type Manager struct {
	state  StateSource
	now    func() time.Time
	blocks searchBlockRecorder

	mu               sync.Mutex
	lastUpdate       time.Time
	ledgerLoads      map[*time.Time]bool // These are the load times of the running configurations.
	lastLedgerUpdate time.Time
	ledgerAlerts     []Alert          // These alerts follow from the ledger.
	alerts           map[string]Alert // The key is the ID. The alerts are open or over, and have no acknowledgements.
	acknowledgements acknowledgementStore
	latest           []Alert       // latest are all alerts at the last update.
	updated          chan struct{} // updated is closed by the next update.
}

// NewManager returns a Manager without alerts. now returns the current time.
func NewManager(state StateSource, now func() time.Time) *Manager {
	return &Manager{state: state, now: now, ledgerLoads: make(map[*time.Time]bool), alerts: make(map[string]Alert), updated: make(chan struct{})}
}

// Watch updates the alerts now and every minute, until ctx ends. ctx is the context of a
// configuration.
func (m *Manager) Watch(ctx context.Context) {
	loaded := m.now()
	m.mu.Lock()
	m.ledgerLoads[&loaded], m.lastLedgerUpdate = true, time.Time{}
	m.mu.Unlock()
	go func() {
		ticker := time.NewTicker(updateInterval)
		defer ticker.Stop()
		for {
			m.List()
			select {
			case <-ticker.C:
			case <-ctx.Done():
				m.mu.Lock()
				delete(m.ledgerLoads, &loaded) // A failed reload does not count.
				m.mu.Unlock()
				return
			}
		}
	}()
}

// lastConfigLoad returns the time at which the latest running configuration was loaded, or the zero
// time. The caller must have locked m.mu.
func (m *Manager) lastConfigLoad() (last time.Time) {
	for loaded := range m.ledgerLoads {
		if loaded.After(last) {
			last = *loaded
		}
	}
	return last
}

// Latest returns all alerts as of the last update, in the order of a [List] but without its limits.
// The next update closes updated.
func (m *Manager) Latest() (alerts []Alert, updated <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.latest, m.updated
}

// List returns the alerts. It first updates them if the last update is more than a second ago.
func (m *Manager) List() List {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if m.lastUpdate.IsZero() || now.Sub(m.lastUpdate) >= minUpdateInterval {
		m.update(now)
	}
	list := List{Generated: now.UTC(), Alerts: []Alert{}, IsPersistent: m.state.HasStorage()}
	for _, a := range m.allAlerts(now) {
		if a.State == Over || len(list.Alerts) < maxAlerts {
			list.Alerts = append(list.Alerts, a)
		} else {
			list.MoreCount++
		}
	}
	return list
}

// allAlerts returns all alerts in the order of a [List]. The caller must have locked m.mu.
func (m *Manager) allAlerts(now time.Time) (alerts []Alert) {
	for _, a := range m.alerts {
		if a.isListed(now) {
			alerts = append(alerts, m.acknowledgements.apply(a))
		}
	}
	slices.SortFunc(alerts, func(a, b Alert) int { return a.Compare(&b) })
	return alerts
}

// update examines the state, and opens and ends alerts. The caller must have locked m.mu.
func (m *Manager) update(now time.Time) {
	m.lastUpdate = now
	if now.Sub(m.lastLedgerUpdate) >= ledgerReadInterval {
		m.lastLedgerUpdate, m.ledgerAlerts = now, ledgerAlerts(m.state.Reports(now), now)
	}
	live := m.state.SiteStates()
	current := make(map[string]bool)
	for _, found := range [][]Alert{
		serverAlerts(m.state, now), siteAlerts(live, now), managedAlerts(m.state.ManagedSource(), now), changeAlerts(m.state.ManagedChanges(), now),
		m.blocks.currentAlerts(live, m.lastConfigLoad(), now), withheldAlerts(m.state.WithheldResponses(now), now), m.ledgerAlerts,
	} {
		for _, a := range found {
			current[a.ID] = true
			m.openOrUpdate(a, now)
		}
	}
	for id, a := range m.alerts {
		switch {
		case current[id]:
		case !a.isListed(now), a.State == Over && now.Sub(a.Until) >= endedRetention:
			delete(m.alerts, id)
		case a.State == Open:
			a.State, a.Until = Over, now.UTC()
			m.alerts[id] = a
		}
	}
	m.acknowledgements.prune(now, current)
	m.removeOldestEnded()
	m.latest = m.allAlerts(now)
	close(m.updated)
	m.updated = make(chan struct{})
}

// removeOldestEnded removes the alerts that ended first, if more than maxEndedAlerts have ended.
// The caller must have locked m.mu.
func (m *Manager) removeOldestEnded() {
	over := slices.DeleteFunc(slices.Collect(maps.Values(m.alerts)), func(a Alert) bool { return a.State != Over })
	slices.SortFunc(over, func(a, b Alert) int { return b.Until.Compare(a.Until) })
	for _, a := range over[min(len(over), maxEndedAlerts):] {
		delete(m.alerts, a.ID)
	}
}

// openOrUpdate stores an alert as open. An alert without a start time starts when it was first
// found, even if it ended shortly in between. The caller must have locked m.mu.
func (m *Manager) openOrUpdate(a Alert, now time.Time) {
	if a.Since.IsZero() {
		a.Since = now
		if known, ok := m.alerts[a.ID]; ok && (known.State == Open || now.Sub(known.Until) < updateInterval) {
			a.Since = known.Since
		}
	}
	a.Since, a.State = a.Since.UTC(), Open
	m.alerts[a.ID] = a
}

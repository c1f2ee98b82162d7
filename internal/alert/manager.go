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
	updateInterval     = time.Minute      // between two updates by the clock
	minUpdateInterval  = time.Second      // between two updates by a caller of List
	ledgerReadInterval = 10 * time.Minute // between two reads of the ledger, which is large

	// Limits of a list. More alerts that are open or acknowledged come only from the sites
	// of the configuration: the numbers of alerts that clients can cause have limits below.
	maxAlerts     = 500
	maxOverAlerts = 50
	overRetention = 24 * time.Hour // time for which an ended alert is listed
)

// StateSource provides the state for a Manager. All functions must be safe for concurrent use.
type StateSource interface {
	// Live returns the current state of each site by name.
	Live() map[string]report.Live
	// Managed returns the state of robots_txt.
	Managed() report.Texts
	// ManagedChanges returns the changes of robots_txt by site.
	ManagedChanges() map[string][]report.ManagedChange
	// AddressLists returns the address lists for verification, if any.
	AddressLists() []verify.ListStatus
	// Registry returns the state of the configured registry, or nil.
	Registry() *report.Registry
	// Proposals returns the frequent names of unregistered crawlers, robots first.
	Proposals() []report.Proposal
	// Withheld returns the crawlers with another response instead of a robots.txt.
	Withheld(now time.Time) []responseaudit.Withheld
	// StorageFailure returns the error of the storage and the time of its beginning. The time
	// is zero without an error or storage.
	StorageFailure() (since time.Time, err error)
	// HasStorage reports whether the state survives a restart.
	HasStorage() bool
	// Reports returns the reports. The call is expensive.
	Reports(now time.Time) *report.Source
}

// Manager finds and lists alerts. It is safe for concurrent use.
type Manager struct {
	state  StateSource
	now    func() time.Time
	blocks searchBlocks

	mu               sync.Mutex
	lastUpdate       time.Time
	loads            map[*time.Time]bool // load times of the running configurations
	lastLedgerRead   time.Time
	ledgerAlerts     []Alert          // problems in the ledger
	alerts           map[string]Alert // by ID; open or over, without acknowledgements
	acknowledgements acknowledgements
	latest           []Alert       // all alerts at the last update
	updated          chan struct{} // closed by the next update
}

// NewManager returns a Manager without alerts. now is the clock.
func NewManager(state StateSource, now func() time.Time) *Manager {
	return &Manager{state: state, now: now, loads: make(map[*time.Time]bool), alerts: make(map[string]Alert), updated: make(chan struct{})}
}

// Watch updates the alerts of a new configuration now and every minute until ctx ends.
func (m *Manager) Watch(ctx context.Context) {
	loaded := m.now()
	m.mu.Lock()
	m.loads[&loaded], m.lastLedgerRead = true, time.Time{}
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
				delete(m.loads, &loaded) // a failed reload does not count
				m.mu.Unlock()
				return
			}
		}
	}()
}

// lastLoad returns the load time of the latest running configuration, or the zero time. The caller must
// lock m.mu.
func (m *Manager) lastLoad() (last time.Time) {
	for loaded := range m.loads {
		if loaded.After(last) {
			last = *loaded
		}
	}
	return last
}

// Latest returns all alerts at the last update, in the order of a [List] and without its limits.
// updated is closed by the next update.
func (m *Manager) Latest() (alerts []Alert, updated <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.latest, m.updated
}

// List returns the alerts, after an update unless the last update is recent.
func (m *Manager) List() List {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if m.lastUpdate.IsZero() || now.Sub(m.lastUpdate) >= minUpdateInterval {
		m.update(now)
	}
	list := List{Generated: now.UTC(), Alerts: []Alert{}, IsPersistent: m.state.HasStorage()}
	for _, a := range m.all(now) {
		if a.State == Over || len(list.Alerts) < maxAlerts {
			list.Alerts = append(list.Alerts, a)
		} else {
			list.More++
		}
	}
	return list
}

// all returns all alerts in the order of a list. The caller must lock m.mu.
func (m *Manager) all(now time.Time) (alerts []Alert) {
	for _, a := range m.alerts {
		if a.isListed(now) {
			alerts = append(alerts, m.acknowledgements.apply(a))
		}
	}
	slices.SortFunc(alerts, func(a, b Alert) int { return a.Compare(&b) })
	return alerts
}

// update updates the alerts. The caller must lock m.mu.
func (m *Manager) update(now time.Time) {
	m.lastUpdate = now
	if now.Sub(m.lastLedgerRead) >= ledgerReadInterval {
		m.lastLedgerRead, m.ledgerAlerts = now, ledgerAlerts(m.state.Reports(now), now)
	}
	live := m.state.Live()
	current := make(map[string]bool)
	for _, found := range [][]Alert{
		serverAlerts(m.state, now), siteAlerts(live, now), managedAlerts(m.state.Managed(), now), changeAlerts(m.state.ManagedChanges(), now),
		m.blocks.alerts(live, m.lastLoad(), now), withheldAlerts(m.state.Withheld(now), now), m.ledgerAlerts,
	} {
		for _, a := range found {
			current[a.ID] = true
			m.openOrUpdate(a, now)
		}
	}
	for id, a := range m.alerts {
		switch {
		case current[id]:
		case !a.isListed(now), a.State == Over && now.Sub(a.Until) >= overRetention:
			delete(m.alerts, id)
		case a.State == Open:
			a.State, a.Until = Over, now.UTC()
			m.alerts[id] = a
		}
	}
	m.acknowledgements.prune(now, current)
	m.dropOver()
	m.latest = m.all(now)
	close(m.updated)
	m.updated = make(chan struct{})
}

// dropOver removes the oldest ended alerts beyond maxOverAlerts. The caller must lock m.mu.
func (m *Manager) dropOver() {
	over := slices.DeleteFunc(slices.Collect(maps.Values(m.alerts)), func(a Alert) bool { return a.State != Over })
	slices.SortFunc(over, func(a, b Alert) int { return b.Until.Compare(a.Until) })
	for _, a := range over[min(len(over), maxOverAlerts):] {
		delete(m.alerts, a.ID)
	}
}

// openOrUpdate opens or updates an alert. An alert without a start time starts when first found, also
// before a short interruption. The caller must lock m.mu.
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

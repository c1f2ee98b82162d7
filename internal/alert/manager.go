package alert

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

const (
	updateInterval     = time.Minute      // between two updates by the clock
	minUpdateInterval  = time.Second      // between two updates by a caller of List
	ledgerReadInterval = 10 * time.Minute // between two reads of the ledger, which is large

	maxAlerts     = 200            // open or acknowledged
	maxOverAlerts = 50             // ended alerts that are listed
	overRetention = 24 * time.Hour // time for which an ended alert is listed
)

// StateSource provides the state that a Manager examines. It must be safe for concurrent use.
type StateSource interface {
	// Live returns the current state of each site by name.
	Live() map[string]report.Live
	// Managed returns the state of robots_txt.
	Managed() report.Texts
	// Changes returns the changes of robots_txt by site.
	Changes() map[string][]report.ManagedChange
	// AddressLists returns the address lists for verification, if any.
	AddressLists() []verify.ListStatus
	// Registry returns the state of the configured registry, or nil.
	Registry() *report.Registry
	// Proposals returns the frequent names of unregistered crawlers, robots first.
	Proposals() []report.Proposal
	// Withheld returns the crawlers that get another response instead of a robots.txt.
	Withheld(now time.Time) []responseaudit.Withheld
	// StorageFailure returns the error of the storage and the time of its beginning. The time
	// is zero without an error or storage.
	StorageFailure() (since time.Time, err error)
	// HasStorage reports whether the state survives a restart.
	HasStorage() bool
	// Reports returns the reports. It is expensive.
	Reports(now time.Time) *report.Source
}

// Manager finds and lists alerts. It is safe for concurrent use.
type Manager struct {
	state  StateSource
	now    func() time.Time
	blocks searchBlocks

	mu               sync.Mutex
	lastUpdate       time.Time            // last update
	lastLedgerRead   time.Time            // last read of the ledger
	ledgerFindings   []finding            // findings in the ledger
	firstLoad        time.Time            // when the first configuration was loaded
	lastVerdicts     map[string]time.Time // last verdict by site
	entries          map[string]*entry
	watchers         map[*watcher]bool
	listNumber       uint64 // sequence number of lists
	omitted          int
	acknowledgements acknowledgements
	extra            Extra // can be nil

	notifyMu     sync.Mutex // held during calls of the watchers; locked before mu
	lastNotified uint64     // sequence number of the last list for watchers
}

// entry is an alert with internal data.
type entry struct {
	Alert
	isListed bool // lasted for minDuration
}

// finding is a current problem. A zero Since means that it began when it was first found.
type finding struct {
	Alert
	minDuration time.Duration // minimum duration before it is listed
}

// NewManager returns a Manager without alerts. now is the clock.
func NewManager(state StateSource, now func() time.Time) *Manager {
	return &Manager{
		state: state, now: now, firstLoad: now(),
		lastVerdicts: make(map[string]time.Time), entries: make(map[string]*entry), watchers: make(map[*watcher]bool),
	}
}

// List updates the alerts, unless that was just done, and returns them.
func (b *Manager) List() List {
	list, updated := b.listUpdated()
	if updated {
		b.notifyWatchers(list)
	}
	return list
}

// listUpdated implements List and reports whether it updated the alerts.
func (b *Manager) listUpdated() (list List, updated bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	if updated = b.lastUpdate.IsZero() || now.Sub(b.lastUpdate) >= minUpdateInterval; updated {
		b.update(now)
	}
	return b.list(now), updated
}

// list returns all alerts. b.mu must be held.
func (b *Manager) list(now time.Time) List {
	b.listNumber++
	list := List{Generated: now.UTC(), Alerts: []Alert{}, More: b.omitted, IsPersistent: b.state.HasStorage(), number: b.listNumber}
	for _, e := range b.entries {
		if e.isListed {
			list.Alerts = append(list.Alerts, b.currentAlert(e))
		}
	}
	slices.SortFunc(list.Alerts, compareAlerts)
	return list
}

// currentAlert returns the listed form of an entry. b.mu must be held.
func (b *Manager) currentAlert(e *entry) Alert {
	a := e.Alert
	if a.State == Open {
		if acknowledgement, ok := b.acknowledgements.get(a.ID); ok {
			a.State, a.Acknowledged = Acknowledged, &acknowledgement
		}
	}
	return a
}

// compareAlerts compares alerts for a List.
func compareAlerts(a, b Alert) int {
	return cmp.Or(
		cmp.Compare(slices.Index(allStates(), a.State), slices.Index(allStates(), b.State)),
		cmp.Compare(slices.Index(Severities(), a.Severity), slices.Index(Severities(), b.Severity)),
		b.Since.Compare(a.Since),
		cmp.Compare(a.ID, b.ID))
}

// update updates the alerts. b.mu must be held.
func (b *Manager) update(now time.Time) {
	b.lastUpdate = now
	if b.lastLedgerRead.IsZero() || now.Sub(b.lastLedgerRead) >= ledgerReadInterval {
		isOpen := func(id string) bool { e := b.entries[id]; return e != nil && e.State == Open }
		b.lastLedgerRead, b.ledgerFindings = now, findInLedger(b.state.Reports(now), now, isOpen)
	}
	live := b.state.Live()
	isEnforced := func(f finding) bool {
		mode := live[f.Site].Mode
		return f.Kind == ReadyForEnforce && mode != "" && mode != judge.ModeOf(false)
	}
	b.ledgerFindings = slices.DeleteFunc(b.ledgerFindings, isEnforced)
	// The order is stable, so that a list beyond the limit shows the same alerts each time.
	// Findings that clients can multiply come last within their severity.
	found := slices.Concat(findInServer(b.state, now), b.findInSites(live, now), findInManaged(b.state.Managed(), now), findInChanges(b.state.Changes(), now), b.blocks.find(live, b.lastLoad(), now), findWithheld(b.state.Withheld(now), now), b.ledgerFindings)
	slices.SortStableFunc(found, func(x, y finding) int {
		return cmp.Compare(slices.Index(Severities(), x.Severity), slices.Index(Severities(), y.Severity))
	})
	b.omitted = max(0, len(found)-maxAlerts)
	currentIDs := make(map[string]bool)
	for i, f := range found {
		currentIDs[f.ID] = true
		if i < maxAlerts {
			b.openAlert(f, now)
		} else {
			delete(b.entries, f.ID) // not over
		}
	}
	for id, e := range b.entries {
		switch {
		case currentIDs[id]:
		case !e.isListed:
			delete(b.entries, id)
		case e.State != Over:
			e.State, e.Until = Over, now.UTC()
		}
	}
	b.removeOld(now)
	b.acknowledgements.prune(now, currentIDs)
}

// openAlert opens or updates the alert of a finding. b.mu must be held.
func (b *Manager) openAlert(f finding, now time.Time) {
	existing := b.entries[f.ID]
	if existing == nil || existing.State == Over {
		since := now
		if existing != nil && now.Sub(existing.Until) < updateInterval {
			since = existing.Since // a short interruption
		}
		existing = &entry{Alert: Alert{Since: since}}
		b.entries[f.ID] = existing
	}
	since := cmp.Or(f.Since, existing.Since)
	existing.Alert = f.Alert
	existing.Since, existing.State = since.UTC(), Open
	existing.isListed = existing.isListed || now.Sub(since) >= f.minDuration
}

// removeOld removes alerts that ended long ago, and the oldest beyond the limit. b.mu must be
// held.
func (b *Manager) removeOld(now time.Time) {
	var ended []*entry
	for _, e := range b.entries {
		if e.State == Over {
			ended = append(ended, e)
		}
	}
	slices.SortFunc(ended, func(x, y *entry) int { return y.Until.Compare(x.Until) })
	for i, e := range ended {
		if i >= maxOverAlerts || now.Sub(e.Until) >= overRetention {
			delete(b.entries, e.ID)
		}
	}
}

// sitesBySource returns the names of sites by source, in order.
func sitesBySource(live map[string]report.Live) map[string][]string {
	sites := make(map[string][]string)
	for _, name := range slices.Sorted(maps.Keys(live)) {
		source := name
		if l := live[name]; l.Source != "" && l.Source != "server" {
			source = l.Authority
		}
		sites[source] = append(sites[source], name)
	}
	return sites
}

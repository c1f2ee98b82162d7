package alert

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/parity"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

const (
	lookInterval   = time.Minute      // between two looks by the clock
	readInterval   = time.Second      // between two looks by somebody who reads
	ledgerInterval = 10 * time.Minute // between two looks at the ledger, which is large

	maxAlerts = 200            // open or acknowledged
	maxOver   = 50             // ended, but still listed
	showOver  = 24 * time.Hour // for so long
)

// Known provides the state that a Book examines. It must be safe for concurrent use.
type Known interface {
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
	Withheld(now time.Time) []parity.Withheld
	// StorageTrouble returns the error of the storage and the time of its beginning. The time
	// is zero without an error or storage.
	StorageTrouble() (since time.Time, err error)
	// Stores reports whether the state survives a restart.
	Stores() bool
	// Reports returns the reports. It is expensive.
	Reports(now time.Time) *report.Source
}

// Book finds and lists alerts. It is safe for concurrent use.
type Book struct {
	known  Known
	now    func() time.Time
	blocks blocks

	mu       sync.Mutex
	looked   time.Time            // last look
	counted  time.Time            // and when at the ledger
	crawlers []finding            // findings in the ledger
	reloaded time.Time            // when the first configuration was loaded
	judged   map[string]time.Time // last verdict by site
	entries  map[string]*entry
	watchers map[*watcher]bool
	lists    uint64 // sequence number of lists
	more     int
	acks     acknowledgements
	extra    Extra // can be nil

	telling sync.Mutex // held during calls of the watchers; locked before mu
	told    uint64     // sequence number of the last list for watchers
}

// entry is an alert with internal data.
type entry struct {
	Alert
	shown bool // true for long enough
}

// finding is a current problem. A zero Since means that it began when it was first found.
type finding struct {
	Alert
	after time.Duration // minimum duration before it is listed
}

// NewBook returns a Book without alerts. now is the clock.
func NewBook(known Known, now func() time.Time) *Book {
	return &Book{
		known: known, now: now, reloaded: now(),
		judged: make(map[string]time.Time), entries: make(map[string]*entry), watchers: make(map[*watcher]bool),
	}
}

// List updates the alerts, unless that was just done, and returns them.
func (b *Book) List() List {
	list, news := b.read()
	if news {
		b.tell(list)
	}
	return list
}

// read implements List and reports whether it updated the alerts.
func (b *Book) read() (list List, looked bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	if looked = b.looked.IsZero() || now.Sub(b.looked) >= readInterval; looked {
		b.look(now)
	}
	return b.list(now), looked
}

// list returns all alerts. b.mu must be held.
func (b *Book) list(now time.Time) List {
	b.lists++
	list := List{Generated: now.UTC(), Alerts: []Alert{}, More: b.more, Kept: b.known.Stores(), number: b.lists}
	for _, e := range b.entries {
		if e.shown {
			list.Alerts = append(list.Alerts, b.alertOf(e))
		}
	}
	slices.SortFunc(list.Alerts, order)
	return list
}

// alertOf returns the listed form of an entry. b.mu must be held.
func (b *Book) alertOf(e *entry) Alert {
	a := e.Alert
	if a.State == Open {
		if known, ok := b.acks.of(a.ID); ok {
			a.State, a.Acknowledged = Acknowledged, &known
		}
	}
	return a
}

// order compares alerts for a List.
func order(a, b Alert) int {
	return cmp.Or(
		cmp.Compare(slices.Index(states(), a.State), slices.Index(states(), b.State)),
		cmp.Compare(slices.Index(Severities(), a.Severity), slices.Index(Severities(), b.Severity)),
		b.Since.Compare(a.Since),
		cmp.Compare(a.ID, b.ID))
}

// look updates the alerts. b.mu must be held.
func (b *Book) look(now time.Time) {
	b.looked = now
	if b.counted.IsZero() || now.Sub(b.counted) >= ledgerInterval {
		isOpen := func(id string) bool { e := b.entries[id]; return e != nil && e.State == Open }
		b.counted, b.crawlers = now, findInLedger(b.known.Reports(now), now, isOpen)
	}
	live := b.known.Live()
	enforced := func(f finding) bool {
		mode := live[f.Site].Mode
		return f.Kind == ReadyForEnforce && mode != "" && mode != judge.ModeOf(false)
	}
	b.crawlers = slices.DeleteFunc(b.crawlers, enforced)
	// The order is stable, so that a list beyond the limit shows the same alerts each time.
	// Findings that clients can multiply come last within their severity.
	found := slices.Concat(findAtServer(b.known, now), b.findAtSites(live, now), findInTexts(b.known.Managed(), now), findInChanges(b.known.Changes(), now), b.blocks.find(live, b.lastLoaded(), now), findWithheld(b.known.Withheld(now), now), b.crawlers)
	slices.SortStableFunc(found, func(x, y finding) int {
		return cmp.Compare(slices.Index(Severities(), x.Severity), slices.Index(Severities(), y.Severity))
	})
	b.more = max(0, len(found)-maxAlerts)
	so := make(map[string]bool)
	for i, f := range found {
		so[f.ID] = true
		if i < maxAlerts {
			b.open(f, now)
		} else {
			delete(b.entries, f.ID) // not over
		}
	}
	for id, e := range b.entries {
		switch {
		case so[id]:
		case !e.shown:
			delete(b.entries, id)
		case e.State != Over:
			e.State, e.Until = Over, now.UTC()
		}
	}
	b.forget(now)
	b.acks.prune(now, so)
}

// open opens or updates the alert of a finding. b.mu must be held.
func (b *Book) open(f finding, now time.Time) {
	e := b.entries[f.ID]
	if e == nil || e.State == Over {
		since := now
		if e != nil && now.Sub(e.Until) < lookInterval {
			since = e.Since // a short interruption
		}
		e = &entry{Alert: Alert{Since: since}}
		b.entries[f.ID] = e
	}
	since := cmp.Or(f.Since, e.Since)
	e.Alert = f.Alert
	e.Since, e.State = since.UTC(), Open
	e.shown = e.shown || now.Sub(since) >= f.after
}

// forget removes alerts that ended long ago, and the oldest beyond the limit. b.mu must be
// held.
func (b *Book) forget(now time.Time) {
	var over []*entry
	for _, e := range b.entries {
		if e.State == Over {
			over = append(over, e)
		}
	}
	slices.SortFunc(over, func(x, y *entry) int { return y.Until.Compare(x.Until) })
	for i, e := range over {
		if i >= maxOver || now.Sub(e.Until) >= showOver {
			delete(b.entries, e.ID)
		}
	}
}

// names returns the names of sites by source, in order.
func names(live map[string]report.Live) map[string][]string {
	shared := make(map[string][]string)
	for _, name := range slices.Sorted(maps.Keys(live)) {
		about := name
		if l := live[name]; l.Source != "" && l.Source != "server" {
			about = l.Authority
		}
		shared[about] = append(shared[about], name)
	}
	return shared
}

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

	maxAlerts = 200            // that are open or acknowledged
	maxOver   = 50             // that are shown although they are over
	showOver  = 24 * time.Hour // for so long
)

// Known is what a Book is shown. Its methods may be called by several goroutines
// at once.
type Known interface {
	// Live returns what is known now of each site, by name.
	Live() map[string]report.Live
	// Managed returns what knows of robots_txt.
	Managed() report.Texts
	// Changes returns what is known of the changes of robots_txt, by site.
	Changes() map[string][]report.ManagedChange
	// AddressLists are the lists by which crawlers are verified; none if they are not.
	AddressLists() []verify.ListStatus
	// Registry returns how it stands with the registry that the configuration names, nil
	// for none.
	Registry() *report.Registry
	// Proposals returns the names that clients often call themselves by and that no
	// registry knows, robots first.
	Proposals() []report.Proposal
	// Withheld returns the crawlers that get something else instead of a robots.txt.
	Withheld(now time.Time) []parity.Withheld
	// StorageTrouble returns since when nothing of some kind could be stored, and
	// why; the zero time if all can be, or if there is no storage.
	StorageTrouble() (since time.Time, err error)
	// Stores reports whether what is known outlives a restart.
	Stores() bool
	// Reports returns what crawlers did. That is costly.
	Reports(now time.Time) *report.Source
}

// Book knows which alerts there are. It may be used by several goroutines at once.
type Book struct {
	known  Known
	now    func() time.Time
	blocks blocks

	mu       sync.Mutex
	looked   time.Time            // when it looked last
	counted  time.Time            // and when at the ledger
	crawlers []finding            // what it found there
	reloaded time.Time            // when the first configuration was loaded
	judged   map[string]time.Time // when a site was judged for last, by its name
	entries  map[string]*entry
	watchers map[*watcher]bool
	lists    uint64 // how many it has made
	more     int
	acks     acknowledgements
	beside   Beside // nil for nothing

	telling sync.Mutex // held while those who watch are told, and before mu
	told    uint64     // the number of the list that they were told last
}

// entry is an alert with what is not shown of it.
type entry struct {
	Alert
	shown bool // it has been so for long enough
}

// finding is what is so now. Without a Since that is so since it was found first.
type finding struct {
	Alert
	after time.Duration // it has to be so before anybody is told
}

// NewBook returns a book that has found nothing yet. now is the clock.
func NewBook(known Known, now func() time.Time) *Book {
	return &Book{
		known: known, now: now, reloaded: now(),
		judged: make(map[string]time.Time), entries: make(map[string]*entry), watchers: make(map[*watcher]bool),
	}
}

// List looks at what is known, unless that was just done, and returns all alerts.
func (b *Book) List() List {
	list, news := b.read()
	if news {
		b.tell(list)
	}
	return list
}

// read is List, and reports whether it has looked.
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

// alertOf returns an entry as it is shown. b.mu must be held.
func (b *Book) alertOf(e *entry) Alert {
	a := e.Alert
	if a.State == Open {
		if known, ok := b.acks.of(a.ID); ok {
			a.State, a.Acknowledged = Acknowledged, &known
		}
	}
	return a
}

// order is that of a List.
func order(a, b Alert) int {
	return cmp.Or(
		cmp.Compare(slices.Index(states(), a.State), slices.Index(states(), b.State)),
		cmp.Compare(slices.Index(Severities(), a.Severity), slices.Index(Severities(), b.Severity)),
		b.Since.Compare(a.Since),
		cmp.Compare(a.ID, b.ID))
}

// look finds what is so now. b.mu must be held.
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
	// If there are too many, the same ones are shown each time, and what clients can make
	// many of comes last of what is as severe.
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
			delete(b.entries, f.ID) // it is not over
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

// open takes note of a finding. b.mu must be held.
func (b *Book) open(f finding, now time.Time) {
	e := b.entries[f.ID]
	if e == nil || e.State == Over {
		since := now
		if e != nil && now.Sub(e.Until) < lookInterval {
			since = e.Since // it was gone for a moment
		}
		e = &entry{Alert: Alert{Since: since}}
		b.entries[f.ID] = e
	}
	since := cmp.Or(f.Since, e.Since)
	e.Alert = f.Alert
	e.Since, e.State = since.UTC(), Open
	e.shown = e.shown || now.Sub(since) >= f.after
}

// forget drops what is over for long, and the oldest of too much. b.mu must be held.
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

// names returns the names of sites that share a source, in order, by what they are
// about.
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

package alert

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

var start = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// world is what a book is shown, at a time of its own.
type world struct {
	*Manager
	t         *testing.T
	clock     sync.Mutex // guards time where a manager watches
	time      time.Time
	sites     map[string]report.SiteState
	lists     []verify.ListStatus
	registry  *report.RegistryStatus
	crawlers  *uaident.Registry // nil for the default
	proposals []report.RegistryProposal
	since     time.Time // of the trouble of the storage
	trouble   error
	stores    bool
	texts     texts
	withheld  []responseaudit.WithheldFinding
	changes   map[string][]report.ManagedChange
	counted   *ledger.Ledger
	reports   int // how often they were asked for
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, time: start, sites: make(map[string]report.SiteState)}
	w.counted = ledger.New(w.now)
	w.Manager = NewManager(w, w.now)
	return w
}

func (w *world) now() time.Time {
	w.clock.Lock()
	defer w.clock.Unlock()
	return w.time
}

func (w *world) SiteStates() map[string]report.SiteState                     { return w.sites }
func (w *world) Proposals() []report.RegistryProposal                        { return w.proposals }
func (w *world) Registry() *report.RegistryStatus                            { return w.registry }
func (w *world) AddressLists() []verify.ListStatus                           { return w.lists }
func (w *world) StorageFailure() (time.Time, error)                          { return w.since, w.trouble }
func (w *world) ManagedChanges() map[string][]report.ManagedChange           { return w.changes }
func (w *world) ManagedSource() report.ManagedFiles                          { return w.texts }
func (w *world) WithheldResponses(time.Time) []responseaudit.WithheldFinding { return w.withheld }
func (w *world) HasStorage() bool                                            { return w.stores }

func (w *world) Reports(now time.Time) *report.Source {
	w.reports++
	return &report.Source{Now: now, Ledger: w.counted.Snapshot(), SiteStates: w.sites, Registry: w.crawlers}
}

// pass lets time pass, and the manager update once a minute.
func (w *world) pass(d time.Duration) {
	for end := w.time.Add(d); w.time.Before(end); w.List() {
		w.time = w.time.Add(min(time.Minute, end.Sub(w.time)))
	}
}

// leap lets time pass, and the manager update at the end.
func (w *world) leap(d time.Duration) {
	w.clock.Lock()
	w.time = w.time.Add(d)
	w.clock.Unlock()
	w.List()
}

// answer is what a site answers to the guard now.
func (w *world) answer(name, mode string, status int, text string) {
	l := w.sites[name]
	l.Mode, l.Enforces, l.Source, l.Authority = mode, mode == "enforce", "server", "http://"+name
	before := policy.State{}
	if l.State != nil {
		before = *l.State
	}
	after := before.AfterFetch(policy.FetchResult{Status: status, Body: []byte(text)}, w.time, policy.FreshnessPolicy{Max: time.Hour}, 0)
	l.State = &after
	w.sites[name] = l
}

// shown returns the alerts in short: state, severity and kind of each.
func (w *world) shown() string {
	var lines []string
	for _, a := range w.List().Alerts {
		lines = append(lines, string(a.State)+" "+string(a.Severity)+" "+string(a.Kind))
	}
	return strings.Join(lines, ", ")
}

func (w *world) want(when, alerts string) {
	w.t.Helper()
	if got := w.shown(); got != alerts {
		w.t.Errorf("%s: got %q, want %q", when, got, alerts)
	}
}

// only returns the one alert that there is.
func (w *world) only() Alert {
	w.t.Helper()
	list := w.List()
	if len(list.Alerts) != 1 {
		w.t.Fatalf("%d alerts, want one: %s", len(list.Alerts), w.shown())
	}
	return list.Alerts[0]
}

package guard

import (
	"cmp"
	"context"
	"net/http"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/changeguard"
	"github.com/robotsguard/caddy-robots-guard/internal/copies"
	"github.com/robotsguard/caddy-robots-guard/internal/identity"
	"github.com/robotsguard/caddy-robots-guard/internal/lease"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/lint"
	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
	"github.com/robotsguard/caddy-robots-guard/internal/metrics"
	"github.com/robotsguard/caddy-robots-guard/internal/parity"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/store"
	"github.com/robotsguard/caddy-robots-guard/internal/strangers"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// State is what survives a reload of the configuration. It holds nothing of a
// configuration, and stays usable after the last handler has released it:
// requests may still be under way.
type State struct {
	Cache           *policy.Cache                // of robots.txt
	Bases           *policy.Cache                // of robots.txt that others are composed from
	Published       publish.Sites                // the changes of those that others are composed to
	Texts           publish.Running              // the robots_txt that run
	Copies          *copies.Book                 // which files a crawler may be using
	readers         *ledger.Readers              // robots fetches, for reports
	elsewhere       *lru.Cache[string, struct{}] // URLs to which the robots.txt of other hosts redirects
	Metrics         *metrics.Metrics             // which read from the state
	violations      *messageLimits               // of log lines about violations
	violationEvents *messageLimits
	warningLimits   *messageLimits // of warnings, by host: unknown hosts must not fill the log
	changes         changeguard.Changes
	tried           *tries // nil in tests that try nothing
	rates           *rate.Budgets
	clock           clock          // of stopwatches
	Ledger          *ledger.Ledger // what crawlers did; nil in tests that count nothing
	Alerts          *alert.Book    // what the owner should do something about; nil in tests without
	presences       presences
	parityTold      parityTold
	deliveries      parity.Deliveries             // which crawlers get something else instead of a robots.txt
	configured      lease.Leases[ConfiguredSites] // which hosts a configuration names
	retentions      lease.Leases[time.Duration]

	sizes     lease.Leases[Sizes]
	histories lease.Leases[report.History]
	history   atomic.Pointer[report.History] // what the last of them says; nil before there was one

	Identities *identity.Shared // what claims are verified by

	Strangers strangers.Book // names that nobody knows

	Memory *store.Memory // what is stored of all this; nil in tests that store nothing

	registered atomic.Pointer[func() *report.Registry] // see ShowRegistry

	findings *lint.Kept // what is wrong in the texts; nil in tests that do not ask

	own     ownPages
	sources standaloneSources
	proxies proxies
	rereads rereads
}

// Policies returns what is known of the robots.txt of each site, in any order.
func (s *State) Policies() []*policy.Entry {
	if s == nil {
		return nil
	}
	return s.Cache.Entries()
}

// CacheStats tells how full a part of the cache of policies is.
func (s *State) CacheStats(segment policy.Segment) policy.CacheStats { return s.Cache.Stats(segment) }

// HeldHosts returns the configured hosts for which the change guard holds a change back.
func (s *State) HeldHosts() map[string]bool {
	held := s.changes.HeldHosts()
	s.presences.keepNamed(held)
	return held
}

// WatchServed says that somebody needs to know until ctx ends which pages search
// engines were served, which [State.Visits] returns.
func (s *State) WatchServed(ctx context.Context) { s.changes.Guarded(ctx) }

// Visits returns the pages that search engines were served lately.
func (s *State) Visits() []ledger.Visit { return s.changes.Visits() }

// VerifierStats tells what the verifier of claims did.
func (s *State) VerifierStats() verify.Stats { return s.Identities.Verifier.Stats() }

// AddressLists returns how it stands with the lists of addresses that the verifier
// reads.
func (s *State) AddressLists() []verify.ListStatus { return s.Identities.Verifier.Lists() }

// SigningKeys returns the numbers of usable keys by signing agent.
func (s *State) SigningKeys() map[string]int { return s.Identities.SigningKeys() }

// Destruct implements caddy.Destructor. What is known of addresses can still be
// asked for.
func (s *State) Destruct() error {
	s.Identities.Verifier.Close()
	return nil
}

// Bounds of the cache. Hosts that only clients name get less, so that inventing
// them costs their inventor more than the server.
var (
	// NamedBounds are the default for sites that the configuration names.
	NamedBounds    = policy.Bounds{Entries: 10_000, Bytes: 256 << 20, Reads: 64}
	inventedBounds = policy.Bounds{Entries: 1_000, Bytes: 32 << 20, Reads: 8}
)

// Bounds of whose readings of a robots.txt are remembered, with a quarter more where chance
// wants it; one takes about 300 bytes.
const (
	maxReadersInPart   = 4096
	maxReadersInvented = 4096
)

// NewState returns what guards share, before anything is known.
func NewState() *State {
	s := &State{
		Cache:           policy.NewCache(NamedBounds, inventedBounds, time.Now, deriveNames),
		Bases:           policy.NewCache(NamedBounds, inventedBounds, time.Now, nil),
		Copies:          copies.NewBook(deriveNames),
		readers:         ledger.NewReaders(maxReadersInPart, maxReadersInvented),
		violations:      newLogLimits(time.Now),
		violationEvents: newMessageLimits(time.Now, eventInterval, 1),
		warningLimits:   newLogLimits(time.Now),
		tried:           newTries(),
		rates:           rate.NewBudgets(time.Now()),
		clock:           newClock(),
		Identities:      identity.NewShared(),
		Ledger:          ledger.New(time.Now),
		findings:        lint.NewKept(),
	}
	s.elsewhere = newElsewhere()
	s.Alerts = alert.NewBook(s, time.Now)
	s.Memory = store.NewMemory(s.parts())
	s.Metrics = metrics.New(s, store.Kinds(), store.Results())
	return s
}

// Findings returns what is wrong with a version of a robots.txt, as the command lint
// finds it. Each text is looked at once.
func (s *State) Findings(key policy.Key, v *policy.Version) *lint.Report {
	site := ""
	if key.Source == "" {
		site = key.String()
	}
	return s.findings.Of(v, site)
}

// Warm reports whether the robots.txt of some configured site is known.
func (s *State) Warm() bool {
	for _, e := range s.Cache.Entries() {
		if state := e.State(); e.Segment() == policy.Named && state != nil && state.Good != nil {
			return true
		}
	}
	return false
}

// parts returns what of the state is stored.
func (s *State) parts() store.Parts {
	return store.Parts{Policies: s.Cache, Bases: s.Bases, Copies: s.Copies, Readers: s.readers, Changes: &s.changes, Ledger: s.Ledger, Lists: s.Identities, Acknowledgements: s.Alerts, Rates: s.rates}
}

// awaitStored waits until it is known what is stored, as a crawler waits for a
// first copy. Caddy starts its apps in no order, so requests may come before.
func (s *State) awaitStored(r *http.Request, most time.Duration) {
	if restored := s.Memory.Restored(); restored != nil {
		awaitClosed(r, restored, most)
	}
}

// Interface guards
var (
	_ store.Changes = (*changeguard.Changes)(nil)
	_ store.Lists   = (*identity.Shared)(nil)

	_ store.Acknowledgements = (*alert.Book)(nil)
	_ store.Rates            = (*rate.Budgets)(nil)

	_ metrics.Observed = (*State)(nil)
)

// ShowRegistry has [State.Registry] say what status does, until end is called.
func (s *State) ShowRegistry(status func() *report.Registry) (end func()) {
	s.registered.Store(&status)
	return func() { s.registered.CompareAndSwap(&status, nil) }
}

// Registry returns how it stands with the registry that the configuration names, nil if
// it names none.
func (s *State) Registry() *report.Registry {
	if s == nil {
		return nil
	}
	if status := s.registered.Load(); status != nil {
		return (*status)()
	}
	return nil
}

// Proposals returns the names that clients often call themselves by and that no registry
// knows, none where nothing runs.
func (s *State) Proposals() []report.Proposal {
	if s == nil {
		return []report.Proposal{}
	}
	return s.Strangers.Proposals(cmp.Or(s.presences.known(), uaident.Default()))
}

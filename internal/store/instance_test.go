package store

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/robotsguard/caddy-robots-guard/internal/copies"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// instance is a process with an empty cache and its own clock.
type instance struct {
	*Store
	inMemory *storetest.Storage
	cache    *policy.Cache
	based    *policy.Cache // bases
	copied   *copies.History
	visits   *lastVisits
	counted  *ledger.Ledger
	verifier *verify.Verifier
	fetched  uint64
	known    acknowledgements
	sent     acknowledgements
	rate     *rate.Budgets
	observed *observed
	logs     *observer.ObservedLogs
	time     time.Time
}

var (
	namedBounds    = policy.Bounds{Entries: 10_000, Bytes: 256 << 20, ConcurrentFetches: 64}
	inventedBounds = policy.Bounds{Entries: 1_000, Bytes: 32 << 20, ConcurrentFetches: 8}
)

// derived is the data that is cached with a file.
type derived struct{}

func newInstance(m *storetest.Storage, id string, now time.Time) *instance {
	core, logs := observer.New(zap.DebugLevel)
	i := &instance{inMemory: m, logs: logs, time: now, observed: newObserved()}
	clock := func() time.Time { return i.time }
	i.cache = policy.NewCache(namedBounds, inventedBounds, clock, func(*policy.Robots) any { return new(derived) })
	i.based = policy.NewCache(namedBounds, inventedBounds, clock, nil)
	i.rate = rate.NewBudgets(now)
	i.copied = copies.NewHistory(nil)
	i.visits = &lastVisits{sites: make(map[policy.Key]lastVisit)}
	i.counted = ledger.New(clock)
	i.verifier = verify.New(verify.Options{MaxVerified: 16, MaxOtherResults: 16, Now: clock, Transport: served{"https://acme.test/bots.txt": "192.0.2.0/24\n"}})
	i.Store = New(Options{
		Storage: m, Instance: id, Observer: i.observed, Logger: zap.New(core), Now: clock,
		Memory: NewMemory(Parts{
			Policies: i.cache, Bases: i.based, Copies: i.copied, Changes: i.visits, Ledger: i.counted, AddressLists: fetchedLists{i.verifier, &i.fetched},
			Acknowledgements: &i.known, SentAlerts: &i.sent, Rates: i.rate,
		}),
	})
	i.maxPolicyValues = 1000
	return i
}

// observed counts operations by operation, kind and result.
type observed struct {
	mu     sync.Mutex
	counts map[[3]string]int
	last   time.Time // last success
}

func newObserved() *observed { return &observed{counts: make(map[[3]string]int)} }

func (o *observed) ValueWritten(kind string, at time.Time, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	result := "success"
	if err != nil {
		result = "failure"
	} else {
		o.last = at
	}
	o.counts[[3]string{"write", kind, result}]++
}

func (o *observed) ValueRead(kind, result string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.counts[[3]string{"read", kind, result}]++
}

// reads returns the number of reads of a kind with a result.
func (o *observed) reads(kind, result string) int { return o.counts[[3]string{"read", kind, result}] }

// writes returns the number of writes of a kind with a result.
func (o *observed) writes(kind, result string) int { return o.counts[[3]string{"write", kind, result}] }

// lastVisits implements Changes with the last visit of each site and no delayed changes.
type lastVisits struct {
	mu    sync.Mutex
	sites map[policy.Key]lastVisit
}

type lastVisit struct {
	at       time.Time
	fromPeer bool
	revision uint64 // number of visits at this instance
}

func (v *lastVisits) get(site policy.Key) lastVisit {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.sites[site]
}

func (v *lastVisits) set(site policy.Key, at lastVisit) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.sites[site] = at
}

func (v *lastVisits) ConfiguredSites() []policy.Key {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Collect(maps.Keys(v.sites))
}

func (v *lastVisits) Revisions(site policy.Key) (changes, visits uint64) {
	return 0, v.get(site).revision
}

func (v *lastVisits) Snapshot(site policy.Key) (ledger.ChangeGuardState, bool) {
	last := v.get(site)
	return ledger.ChangeGuardState{Site: site, FetchedAt: last.at}, !last.fromPeer
}

func (v *lastVisits) Restore(stored ledger.ChangeGuardState, _ *policy.State, fromPeer bool) (int, bool) {
	v.mu.Lock() // a store restores several values at once
	defer v.mu.Unlock()
	if last := v.sites[stored.Site]; stored.FetchedAt.After(last.at) {
		v.sites[stored.Site] = lastVisit{stored.FetchedAt, fromPeer, last.revision}
	}
	return 0, true
}

// acknowledgements has a string in place of acknowledged alerts.
type acknowledgements struct {
	mu       sync.Mutex
	revision uint64
	text     string
}

// write changes the acknowledgements.
func (a *acknowledgements) write(revision uint64, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.revision, a.text = revision, text
}

func (a *acknowledgements) read() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.text
}

func (a *acknowledgements) Revision() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.revision
}

func (a *acknowledgements) Export() ([]byte, error) { return []byte(a.read()), nil }

func (a *acknowledgements) Import(data []byte) error {
	if !json.Valid(data) {
		return errors.New("noise")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.text = max(a.text, string(data)) // the larger string is the later one
	return nil
}

// fetchedLists implements AddressLists for a verifier.
type fetchedLists struct {
	*verify.Verifier
	fetched *uint64
}

func (l fetchedLists) FetchCount() uint64 { return *l.fetched }

// learn stores a fetched robots.txt of a site in the cache.
func (i *instance) learn(key policy.Key, segment policy.Segment, text string) {
	e := i.cache.GetOrCreate(key, segment)
	e.MakeDue()
	<-e.Refresh(policy.FreshnessPolicy{Default: 10 * time.Minute, Max: policy.MaxAge},
		func() policy.FetchResult { return policy.FetchResult{Status: 200, Body: []byte(text)} }, nil)
}

// text returns the cached file of a site.
func (i *instance) text(key policy.Key) string {
	if e := i.cache.Get(key); e != nil && e.State() != nil && e.State().Current != nil {
		return e.State().Current.Robots.Text()
	}
	return "(nothing)"
}

// visit records a visit of a search engine.
func (i *instance) visit(key policy.Key) {
	i.visits.set(key, lastVisit{i.time, false, i.visits.get(key).revision + 1})
}

// lastVisit returns the time of the last known visit.
func (i *instance) lastVisit(key policy.Key) time.Time { return i.visits.get(key).at }

// ask counts n requests of GPTBot at a site.
func (i *instance) ask(site string, n int) {
	for range n {
		i.counted.Record(&ledger.Request{At: i.time, Site: site, Token: "GPTBot", Class: uaident.AITraining})
	}
}

// readLedger reads the ledgers.
func (i *instance) readLedger(ctx context.Context) { i.ledgerValues.readLedgers(ctx) }

// writeLedger writes the unsaved counts.
func (i *instance) writeLedger(ctx context.Context) { i.writeKind(ctx, &i.ledgerKind, false) }

// later advances the clock and writes unsaved values.
func (i *instance) later(t *testing.T, d time.Duration) {
	t.Helper()
	i.time = i.time.Add(d)
	i.inMemory.Now = i.time
	i.Write(t.Context())
}

// logged fails the test unless exactly one log entry has this message.
func (i *instance) logged(t *testing.T, message string) {
	t.Helper()
	if n := i.logs.FilterMessage(message).Len(); n != 1 {
		t.Errorf("%d lines %q: %v", n, message, i.logs.All())
	}
}

// policyKey returns the key of a site's policy.
func policyKey(instance string, site policy.Key) key {
	return key{instance, kindPolicies, siteValueName(site)}
}

func namedKey(host string) policy.Key { return policy.Key{Site: host, Host: host} }

var (
	siteA   = namedKey("a.test")
	siteURL = policy.Key{Source: "https://example.com/robots.txt"}
	siteF   = policy.Key{Source: "/srv/robots.txt"}

	noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
)

const (
	open = "User-agent: *\nDisallow: /private/\n"
	shut = "User-agent: *\nDisallow: /\n"
)

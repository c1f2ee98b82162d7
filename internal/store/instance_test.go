package store

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
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
	read     *ledger.RobotsFetches
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
	i.read = ledger.NewRobotsFetches(100, 100)
	i.counted = ledger.New(clock)
	i.verifier = verify.New(verify.Options{KeepVerified: 16, KeepOthers: 16, Now: clock, Transport: served{"https://acme.test/bots.txt": "192.0.2.0/24\n"}})
	i.Store = New(Options{
		Storage: m, Instance: id, Observer: i.observed, Logger: zap.New(core), Now: clock,
		Memory: NewMemory(Parts{
			Policies: i.cache, Bases: i.based, Copies: i.copied, Readers: i.read, Changes: noChanges{}, Ledger: i.counted, AddressLists: fetchedLists{i.verifier, &i.fetched},
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

// noChanges is a change guard without delayed changes.
type noChanges struct{}

func (noChanges) Sites() []policy.Key                        { return nil }
func (noChanges) Revision(policy.Key) (holds, visits uint64) { return 0, 0 }
func (noChanges) Snapshot(policy.Key) (ledger.Changes, bool) { return ledger.Changes{}, false }
func (noChanges) Restore(ledger.Changes, *policy.State, bool) (int, bool) {
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
	<-e.Refresh(policy.Freshness{Default: 10 * time.Minute, Max: policy.MaxAge},
		func() policy.FetchResult { return policy.FetchResult{Status: 200, Body: []byte(text)} }, nil)
}

// text returns the cached file of a site.
func (i *instance) text(key policy.Key) string {
	if e := i.cache.Get(key); e != nil && e.State() != nil && e.State().Current != nil {
		return e.State().Current.Robots.Text()
	}
	return "(nothing)"
}

// bingOf returns bingbot as a reader of a site.
func bingOf(key policy.Key) ledger.RobotsFetcher {
	return ledger.RobotsFetcher{Site: key, Crawler: "bingbot", Network: netip.MustParsePrefix("192.0.2.0/24")}
}

// reads records a robots fetch of bingbot.
func (i *instance) reads(key policy.Key) {
	i.read.Record(bingOf(key), ledger.RobotsFetch{At: i.time.UnixMilli(), Status: 200, Version: [32]byte{1}})
}

// hasRead returns the time of bingbot's last known robots fetch.
func (i *instance) hasRead(key policy.Key) time.Time {
	last, _ := i.read.Last(bingOf(key))
	return ledger.Time(last.At)
}

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
	return key{instance, kindPolicies, siteName(site)}
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

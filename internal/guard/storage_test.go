package guard

import (
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/internal/store"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// guardInstance is a server with an empty cache, a store and its own clock.
type guardInstance struct {
	*store.Store
	storage *storetest.Storage
	shared  *State
	logs    *observer.ObservedLogs
	time    time.Time
}

func newInstance(m *storetest.Storage, id string, now time.Time) *guardInstance {
	core, logs := observer.New(zap.DebugLevel)
	i := &guardInstance{storage: m, logs: logs, time: now}
	clock := func() time.Time { return i.time }
	i.shared = NewState()
	i.shared.Cache = policy.NewCache(ConfiguredHostBounds, unknownHostBounds, clock, newOverlayCache)
	i.shared.changeGuard.Clock = clock
	i.shared.Ledger = ledger.New(clock)
	i.shared.rates = rate.NewBudgets(now)
	i.shared.Alerts = alert.NewManager(i.shared, clock)
	i.shared.Memory = store.NewMemory(i.shared.storedParts())
	i.Store = store.New(store.Options{
		Storage: m, Instance: id, Memory: i.shared.Memory, Observer: i.shared.Metrics, Logger: zap.New(core), MaxPolicies: 100, Now: clock,
	})
	return i
}

// learn fetches the robots.txt of a site.
func (i *guardInstance) learn(key policy.Key, segment policy.Segment, text string) {
	e := i.shared.Cache.GetOrCreate(key, segment)
	e.MakeDue()
	<-e.Refresh(policy.FreshnessPolicy{Default: 10 * time.Minute, Max: policy.MaxAge},
		func() policy.FetchResult { return policy.FetchResult{Status: 200, Body: []byte(text)} }, nil)
}

// later advances the clock and stores pending data.
func (i *guardInstance) later(t *testing.T, d time.Duration) {
	t.Helper()
	i.time = i.time.Add(d)
	i.storage.Now = i.time
	i.Write(t.Context())
}

// logged checks that exactly one line has the given message.
func (i *guardInstance) logged(t *testing.T, message string) {
	t.Helper()
	if n := i.logs.FilterMessage(message).Len(); n != 1 {
		t.Errorf("%d lines %q: %v", n, message, i.logs.All())
	}
}

var (
	siteA = policy.Key{Site: "a.test", Host: "a.test"}

	noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
)

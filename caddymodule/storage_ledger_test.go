package caddymodule

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// countingInstance is an instance with a ledger, at a time of its own.
type countingInstance struct {
	*ledgerStore
	logs *observer.ObservedLogs
	time time.Time
}

func newCountingInstance(m *memory, id string, now time.Time) *countingInstance {
	core, logs := observer.New(zap.DebugLevel)
	i := &countingInstance{logs: logs, time: now}
	clock := func() time.Time { return i.time }
	i.ledgerStore = &ledgerStore{
		storage: m, stat: m.stat, instance: id, logger: zap.New(core), now: clock,
		state:   &state{cache: policy.NewCache(namedBounds, inventedBounds, clock, nil), ledger: ledger.New(clock)},
		written: make(map[string]writtenLedger), done: make(chan struct{}),
	}
	return i
}

// ask counts requests of GPTBot at a site.
func (i *countingInstance) ask(site string, n int) {
	for range n {
		i.state.ledger.Record(&ledger.Request{At: i.time, Site: site, Token: "GPTBot", Class: uaident.AITraining})
	}
}

// shown returns the number of requests at each site that are shown.
func (i *countingInstance) shown() string {
	counts := make(map[string]uint64)
	for _, site := range i.state.source(i.time).Ledger.Sites {
		for _, row := range site.Rows {
			sum := row.Series[ledger.Days].Sum(ledger.Days, time.Time{}, i.time)
			counts[site.Name] += sum.Requests()
		}
	}
	return fmt.Sprint(counts)
}

func TestLedgerStoreAfterRestart(t *testing.T) {
	ctx, m := t.Context(), newMemory()
	m.now = noon
	first := newCountingInstance(m, "first", noon)
	first.read(ctx)
	first.ask("a.test", 3)
	first.ask("b.test", 2)
	first.write(ctx)
	first.write(ctx)
	if m.writes != 2 {
		t.Errorf("%d writes, want one for each site: %v", m.writes, m.keys())
	}
	first.time = noon.Add(time.Minute)
	first.ask("a.test", 1)
	first.write(ctx)
	if m.writes != 3 {
		t.Errorf("%d writes after a request at one site, want 3", m.writes)
	}

	again := newCountingInstance(m, "first", noon.Add(time.Hour))
	again.ask("a.test", 10) // comes before the storage has answered
	again.read(ctx)
	again.read(ctx)
	if got := again.shown(); got != "map[a.test:14 b.test:2]" {
		t.Errorf("after a restart: %s", got)
	}
	again.write(ctx)
	third := newCountingInstance(m, "first", noon.Add(2*time.Hour))
	third.read(ctx)
	if got := third.shown(); got != "map[a.test:14 b.test:2]" {
		t.Errorf("after another restart: %s", got)
	}
}

// TestLedgerStoreKeepsIdleSites for as long as the ledger does, although nobody
// comes.
func TestLedgerStoreKeepsIdleSites(t *testing.T) {
	ctx, m := t.Context(), newMemory()
	m.now = noon
	i := newCountingInstance(m, "first", noon)
	i.read(ctx)
	i.ask("a.test", 3)
	for days := range 60 {
		i.time = noon.Add(time.Duration(days) * 24 * time.Hour)
		m.now = i.time
		i.write(ctx)
		i.read(ctx)
	}
	if m.writes != 9 {
		t.Errorf("%d writes, want one a week", m.writes)
	}
	again := newCountingInstance(m, "first", i.time)
	again.read(ctx)
	if got := again.shown(); got != "map[a.test:3]" {
		t.Errorf("after two months: %s", got)
	}
}

// TestLedgerStoreIsCounted as the other values in the storage are.
func TestLedgerStoreIsCounted(t *testing.T) {
	ctx, m := t.Context(), newMemory()
	m.now = noon
	i := newCountingInstance(m, "first", noon)
	metrics := sharedMetrics()
	all := func() string {
		var counts []float64
		for _, result := range []string{"success", "failure"} {
			counts = append(counts, counted(t, metrics.writes, "ledger", result))
		}
		for _, result := range []string{readGood, readSetAside, readExpired, readFailed} {
			counts = append(counts, counted(t, metrics.reads, "ledger", result))
		}
		return fmt.Sprint(counts)
	}
	metrics.writes.Reset()
	metrics.reads.Reset()
	i.read(ctx)
	i.ask("a.test", 1)
	i.ask("b.test", 1)
	m.refuse = ledgerKeyOf("first", "a.test").name
	i.write(ctx)
	m.refuse = ""
	i.write(ctx)
	if got := all(); got != "[2 1 0 0 0 0]" && got != "[3 1 0 0 0 0]" {
		t.Errorf("after writing: %s", got)
	}
	sibling := newCountingInstance(m, "second", noon)
	key := ledgerKeyOf("first", "a.test").String()
	m.values[key] = m.values[key][:100]
	sibling.read(ctx)
	sibling.time = noon.Add(maxUnrefreshed)
	sibling.read(ctx)
	if got := all(); !strings.HasSuffix(got, " 1 1 2 0]") {
		t.Errorf("after reading: %s", got)
	}
	if _, err := sibling.load(ctx, ledgerKeyOf("first", "a.test")); err == nil || !strings.HasSuffix(all(), " 1 1 2 0]") {
		t.Errorf("what is gone counts: %v, %s", err, all())
	}
	m.broken = errors.New("no network")
	m.values[key] = []byte("x")
	if _, err := sibling.load(ctx, ledgerKeyOf("first", "a.test")); err == nil || !strings.HasSuffix(all(), " 1 1 2 1]") {
		t.Errorf("a failure: %v, %s", err, all())
	}
}

// TestLedgerStoreTogether shows what all instances have counted, once.
func TestLedgerStoreTogether(t *testing.T) {
	ctx, m := t.Context(), newMemory()
	m.now = noon
	var all []*countingInstance
	for n, id := range []string{"first", "second", "third"} {
		i := newCountingInstance(m, id, noon)
		i.read(ctx)
		i.ask("a.test", n+1)
		i.ask(id+".test", 1)
		i.write(ctx)
		all = append(all, i)
	}
	for range 2 {
		for _, i := range all {
			i.read(ctx)
			if got := i.shown(); got != "map[a.test:6 first.test:1 second.test:1 third.test:1]" {
				t.Errorf("%s shows %s", i.instance, got)
			}
			i.write(ctx)
		}
	}
	// A container without a volume is another instance after a restart.
	reborn := newCountingInstance(m, "fourth", noon.Add(24*time.Hour))
	reborn.read(ctx)
	if got := reborn.shown(); got != "map[a.test:6 first.test:1 second.test:1 third.test:1]" {
		t.Errorf("a new instance shows %s", got)
	}
	reborn.time = noon.Add(maxUnrefreshed)
	reborn.read(ctx)
	if got := reborn.shown(); got != "map[]" || len(m.keys()) != 0 {
		t.Errorf("what nobody refreshes is still there: %s, %v", got, m.keys())
	}
}

// TestLedgerStoreKeepsWhatIsThere writes nothing before it knows what is stored.
func TestLedgerStoreKeepsWhatIsThere(t *testing.T) {
	ctx, m := t.Context(), newMemory()
	m.now = noon
	first := newCountingInstance(m, "first", noon)
	first.read(ctx)
	first.ask("a.test", 3)
	first.write(ctx)
	again := newCountingInstance(m, "first", noon.Add(time.Hour))
	m.broken = errors.New("no network")
	again.read(ctx)
	again.ask("a.test", 1)
	m.broken = nil
	again.write(ctx)
	if m.writes != 1 {
		t.Error("what was stored is lost")
	}
	if n := again.logs.FilterMessage("the ledger cannot be read from the storage; it is tried again").Len(); n != 1 {
		t.Errorf("%d warnings", n)
	}
	again.read(ctx)
	again.write(ctx)
	if got := again.shown(); got != "map[a.test:4]" || m.writes != 2 {
		t.Errorf("%s, %d writes", got, m.writes)
	}
	if again.logs.FilterMessage("the ledger can be stored again").Len() != 1 {
		t.Error("nobody says that it works again")
	}
	m.broken = errors.New("no network")
	again.time = noon.Add(2 * time.Hour)
	again.ask("a.test", 1)
	again.write(ctx)
	again.write(ctx)
	if n := again.logs.FilterMessage("the ledger cannot be stored; it is tried again").Len(); n != 1 {
		t.Errorf("%d warnings", n)
	}
}

// TestLedgerStoreSetsAside keeps what it cannot read, and leaves alone what is
// not its own.
func TestLedgerStoreSetsAside(t *testing.T) {
	ctx, m := t.Context(), newMemory()
	m.now = noon
	first := newCountingInstance(m, "first", noon)
	first.read(ctx)
	first.ask("a.test", 1)
	first.ask("b.test", 1)
	first.write(ctx)
	a, b := ledgerKeyOf("first", "a.test"), ledgerKeyOf("first", "b.test")
	damaged := bytes.Clone(m.values[a.String()])
	damaged[len(damaged)-1] ^= 1
	m.values[a.String()] = damaged
	m.values[ledgerKeyOf("first", "c.test").String()] = m.values[b.String()] // renamed
	m.values[ledgerKeyOf("second", "a.test").String()] = damaged
	m.values["robots_guard/v1/first/policies/x.json"] = []byte("not a ledger")
	for key := range m.values {
		m.times[key] = noon
	}
	again := newCountingInstance(m, "first", noon)
	again.read(ctx)
	if got := again.shown(); got != "map[b.test:1]" {
		t.Errorf("restored is %s", got)
	}
	if n := again.logs.FilterMessage("a stored ledger cannot be used and is set aside").Len(); n != 2 {
		t.Errorf("%d warnings, want 2", n)
	}
	aside := a
	aside.dir = dirSetAside
	if !bytes.Equal(m.values[aside.String()], damaged) || m.values[a.String()] != nil {
		t.Errorf("the damaged value is not set aside: %v", m.keys())
	}
	if m.values[ledgerKeyOf("second", "a.test").String()] == nil {
		t.Error("a value of another instance was moved")
	}
	// The reader of policies and that of the ledger do not see each other's keys.
	for _, key := range m.keys() {
		_, policies := parseStorageKey(key)
		if _, ledgers := parseLedgerKey(key); policies == ledgers {
			t.Errorf("%s is read %t as a policy and %t as a ledger", key, policies, ledgers)
		}
	}
}

// TestLedgerStoreRuns starts and ends: what is pending at the end is written.
func TestLedgerStoreRuns(t *testing.T) {
	m := newMemory()
	i := newCountingInstance(m, "first", noon)
	ctx, cancel := context.WithCancel(t.Context())
	i.start(ctx)
	i.ask("a.test", 1)
	restored := func() bool {
		i.state.taken.mu.Lock()
		defer i.state.taken.mu.Unlock()
		return i.state.taken.done
	}
	for deadline := time.Now().Add(20 * time.Second); !restored() && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if !ended(i.done, 20*time.Second) {
		t.Fatal("it does not end")
	}
	if len(m.keys()) != 1 {
		t.Errorf("stored are %v", m.keys())
	}
}

package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// shown returns the reported number of requests per site.
func (i *instance) shown() string {
	counts := make(map[string]uint64)
	shown := i.counted.Snapshot()
	if others := i.memory.PeerLedger(); others != nil {
		shown = ledger.Merge(shown, others.Snapshot())
	}
	for _, site := range shown.Sites {
		for _, row := range site.Rows {
			sum := row.Series[ledger.Days].Sum(ledger.Days, time.Time{}, i.time)
			counts[site.Name] += sum.TotalRequests()
		}
	}
	return fmt.Sprint(counts)
}

func TestLedgerStoreAfterRestart(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	m.Now = noon
	first := newInstance(m, "first", noon)
	first.readLedger(ctx)
	first.ask("a.test", 3)
	first.ask("b.test", 2)
	first.writeLedger(ctx)
	first.writeLedger(ctx)
	if m.WriteAttempts != 2 {
		t.Errorf("%d writes, want one for each site: %v", m.WriteAttempts, m.Keys())
	}
	first.time = noon.Add(time.Minute)
	first.ask("a.test", 1)
	first.writeLedger(ctx)
	if m.WriteAttempts != 3 {
		t.Errorf("%d writes after a request at one site, want 3", m.WriteAttempts)
	}

	again := newInstance(m, "first", noon.Add(time.Hour))
	again.ask("a.test", 10) // before the storage has answered
	again.readLedger(ctx)
	again.readLedger(ctx)
	if got := again.shown(); got != "map[a.test:14 b.test:2]" {
		t.Errorf("after a restart: %s", got)
	}
	again.writeLedger(ctx)
	third := newInstance(m, "first", noon.Add(2*time.Hour))
	third.readLedger(ctx)
	if got := third.shown(); got != "map[a.test:14 b.test:2]" {
		t.Errorf("after another restart: %s", got)
	}
}

// TestLedgerStoreKeepsIdleSites checks that a site without requests stays stored for the retention
// time.
func TestLedgerStoreKeepsIdleSites(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	m.Now = noon
	i := newInstance(m, "first", noon)
	i.readLedger(ctx)
	i.ask("a.test", 3)
	for days := range 60 {
		i.time = noon.Add(time.Duration(days) * 24 * time.Hour)
		m.Now = i.time
		i.writeLedger(ctx)
		i.readLedger(ctx)
	}
	if m.WriteAttempts != 9 {
		t.Errorf("%d writes, want one a week", m.WriteAttempts)
	}
	again := newInstance(m, "first", i.time)
	again.readLedger(ctx)
	if got := again.shown(); got != "map[a.test:3]" {
		t.Errorf("after two months: %s", got)
	}
}

// TestLedgerStoreIsCounted checks that an Observer receives the operations of the ledger.
func TestLedgerStoreIsCounted(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	m.Now = noon
	i := newInstance(m, "first", noon)
	peer := newInstance(m, "second", noon)
	all := func(i *instance) string {
		var counts []int
		for _, result := range []string{"success", "failure"} {
			counts = append(counts, i.observed.writes(kindLedger, result))
		}
		for _, result := range AllReadResults() {
			counts = append(counts, i.observed.reads(kindLedger, result))
		}
		return fmt.Sprint(counts)
	}
	i.readLedger(ctx)
	i.ask("a.test", 1)
	i.ask("b.test", 1)
	m.RejectedKeyPart = key{"first", kindLedger, ledgerValueName("a.test")}.name
	i.writeLedger(ctx)
	m.RejectedKeyPart = ""
	i.time = noon.Add(minWriteRetryDelay)
	i.writeLedger(ctx)
	if got := all(i); got != "[2 1 0 0 0 0]" {
		t.Errorf("after writing: %s", got)
	}
	a := key{"first", kindLedger, ledgerValueName("a.test")}
	m.Values[a.String()] = m.Values[a.String()][:100]
	peer.readLedger(ctx)
	peer.time = noon.Add(maxValueAge)
	peer.readLedger(ctx)
	if got := all(peer); got != "[0 0 1 1 2 0]" {
		t.Errorf("after reading: %s", got)
	}
	if peer.readAll(ctx, []key{a}, nil, newReadSummary(&peer.readFailed)); all(peer) != "[0 0 1 1 2 0]" {
		t.Errorf("what is gone counts: %s", all(peer))
	}
	m.Err = errors.New("no network")
	m.Values[a.String()] = []byte("x")
	if peer.readAll(ctx, []key{a}, nil, newReadSummary(&peer.readFailed)); all(peer) != "[0 0 1 1 2 1]" {
		t.Errorf("a failure: %s", all(peer))
	}
}

// TestLedgerStoreTogether adds the counts of all instances, each once.
func TestLedgerStoreTogether(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	m.Now = noon
	var all []*instance
	for n, id := range []string{"first", "second", "third"} {
		i := newInstance(m, id, noon)
		i.readLedger(ctx)
		i.ask("a.test", n+1)
		i.ask(id+".test", 1)
		i.writeLedger(ctx)
		all = append(all, i)
	}
	for range 2 {
		for _, i := range all {
			i.readLedger(ctx)
			if got := i.shown(); got != "map[a.test:6 first.test:1 second.test:1 third.test:1]" {
				t.Errorf("%s shows %s", i.instance, got)
			}
			i.writeLedger(ctx)
		}
	}
	// After a restart, a container without a volume is a new instance.
	reborn := newInstance(m, "fourth", noon.Add(24*time.Hour))
	reborn.readLedger(ctx)
	if got := reborn.shown(); got != "map[a.test:6 first.test:1 second.test:1 third.test:1]" {
		t.Errorf("a new instance shows %s", got)
	}
	reborn.time = noon.Add(maxValueAge)
	reborn.readLedger(ctx)
	if got := reborn.shown(); got != "map[]" || len(m.Keys()) != 0 {
		t.Errorf("what nobody refreshes is still there: %s, %v", got, m.Keys())
	}
}

// TestLedgerStoreWithAnUnreadablePeer shows the readable values of peers. Without a list of the
// instances, the counts of the last read stay.
func TestLedgerStoreWithAnUnreadablePeer(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	m.Now = noon
	for _, id := range []string{"second", "third"} {
		peer := newInstance(m, id, noon)
		peer.readLedger(ctx)
		peer.ask(id+".test", 1)
		peer.writeLedger(ctx)
	}
	first := newInstance(m, "first", noon)
	unreadable := key{"second", kindLedger, ledgerValueName("second.test")}
	first.storage = &storetest.Faulty{Storage: m, FailingOp: "load " + unreadable.String() + " #1"}
	first.readLedger(ctx)
	if got := first.shown(); got != "map[third.test:1]" {
		t.Errorf("shown is %s", got)
	}
	first.logged(t, "stored values cannot be read")
	m.Err = errors.New("no network")
	first.readLedger(ctx)
	if got := first.shown(); got != "map[third.test:1]" {
		t.Errorf("without a storage: %s", got)
	}
}

// TestLedgerStoreKeepsWhatIsThere writes nothing before the stored ledger was read.
func TestLedgerStoreKeepsWhatIsThere(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	m.Now = noon
	first := newInstance(m, "first", noon)
	first.readLedger(ctx)
	first.ask("a.test", 3)
	first.writeLedger(ctx)
	again := newInstance(m, "first", noon.Add(time.Hour))
	m.Err = errors.New("no network")
	again.readLedger(ctx)
	again.ask("a.test", 1)
	m.Err = nil
	again.writeLedger(ctx)
	if m.WriteAttempts != 1 {
		t.Error("what was stored is lost")
	}
	again.logged(t, "stored values cannot be read")
	again.readLedger(ctx)
	again.writeLedger(ctx)
	if got := again.shown(); got != "map[a.test:4]" || m.WriteAttempts != 2 {
		t.Errorf("%s, %d writes", got, m.WriteAttempts)
	}
	again.logged(t, "stored values can be read again")
	m.Err = errors.New("no network")
	again.time = noon.Add(2 * time.Hour)
	again.ask("a.test", 1)
	again.writeLedger(ctx)
	again.writeLedger(ctx)
	if n := again.logs.FilterLevelExact(zap.WarnLevel).FilterMessage("a value cannot be stored; the guard tries again").Len(); n != 1 {
		t.Errorf("%d warnings", n)
	}
}

// TestLedgerStoreSetsAside moves invalid values aside, but not those of other instances.
func TestLedgerStoreSetsAside(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	m.Now = noon
	first := newInstance(m, "first", noon)
	first.readLedger(ctx)
	first.ask("a.test", 1)
	first.ask("b.test", 1)
	first.writeLedger(ctx)
	a, b := key{"first", kindLedger, ledgerValueName("a.test")}, key{"first", kindLedger, ledgerValueName("b.test")}
	damaged := bytes.Clone(m.Values[a.String()])
	damaged[len(damaged)-1] ^= 1
	m.Values[a.String()] = damaged
	m.Values[key{"first", kindLedger, ledgerValueName("c.test")}.String()] = m.Values[b.String()] // wrong name
	m.Values[key{"second", kindLedger, ledgerValueName("a.test")}.String()] = damaged
	m.Values["robots_guard/v1/first/policies/x.json"] = []byte("not a ledger")
	for key := range m.Values {
		m.ModTimes[key] = noon
	}
	again := newInstance(m, "first", noon)
	again.readLedger(ctx)
	if got := again.shown(); got != "map[b.test:1]" {
		t.Errorf("restored is %s", got)
	}
	again.logged(t, "stored values cannot be used and are set aside")
	if n := again.logs.FilterMessage("stored values cannot be used and are set aside").All()[0].ContextMap()["count"]; n != int64(3) {
		t.Errorf("%v values are set aside, want 3", n)
	}
	if !bytes.Equal(m.Values[a.quarantineKey().String()], damaged) || m.Values[a.String()] != nil {
		t.Errorf("the damaged value is not set aside: %v", m.Keys())
	}
	if m.Values[key{"second", kindLedger, ledgerValueName("a.test")}.String()] == nil {
		t.Error("a value of another instance was moved")
	}
	// The same value is not logged again.
	again.readLedger(ctx)
	again.logged(t, "stored values cannot be used and are set aside")

	// A value in quarantine expires too.
	again.time = noon.Add(maxValueAge)
	again.Read(ctx)
	again.readLedger(ctx)
	if got := m.Keys(); len(got) != 0 {
		t.Errorf("left are %v", got)
	}
}

// TestLedgerStoreRuns starts and stops a store. Unsaved counts are written at the end.
func TestLedgerStoreRuns(t *testing.T) {
	m := storetest.New()
	i := newInstance(m, "first", noon)
	ctx, cancel := context.WithCancel(t.Context())
	done := i.Start(ctx, false)
	i.ask("a.test", 1)
	restored := func() bool {
		i.memory.ownLedgerRead.Lock()
		defer i.memory.ownLedgerRead.Unlock()
		return i.memory.ownLedgerRead.done
	}
	for deadline := time.Now().Add(20 * time.Second); !restored() && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if !isClosedWithin(done, 20*time.Second) {
		t.Fatal("it does not end")
	}
	if len(m.Keys()) != 1 {
		t.Errorf("stored are %v", m.Keys())
	}
}

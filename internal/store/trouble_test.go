package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// TestUndeletable writes the ledger although an expired value cannot be removed.
func TestUndeletable(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	m.Now = noon.Add(-40 * 24 * time.Hour)
	dead := newInstance(m, "dead", m.Now)
	dead.readLedger(ctx)
	dead.ask("x.test", 1)
	dead.writeLedger(ctx)
	m.DeleteErr = errors.New("access denied")
	m.Now = noon.Add(-time.Hour)
	own := newInstance(m, "own", m.Now)
	own.readLedger(ctx)
	own.ask("a.test", 3)
	own.writeLedger(ctx)

	m.Now = noon
	m.DeleteErr = errors.New("access denied")
	again := newInstance(m, "own", noon)
	again.readLedger(ctx)
	again.readLedger(ctx)
	if got := again.shown(); got != "map[a.test:3]" {
		t.Errorf("after restart: %s", got)
	}
	again.ask("a.test", 2)
	writes := m.WriteAttempts
	again.writeLedger(ctx)
	if m.WriteAttempts == writes {
		t.Error("the ledger is not written any more")
	}
}

// unreadable is a storage that cannot load one value.
type unreadable struct {
	*storetest.Storage
	key string
}

func (u unreadable) Load(ctx context.Context, k string) ([]byte, error) {
	if k == u.key {
		return nil, errors.New("i/o error")
	}
	return u.Storage.Load(ctx, k)
}

// TestLedgerTroubleIsToldOnce logs an unreadable ledger value once, and logs no recovery while the
// value stays unreadable.
func TestLedgerTroubleIsToldOnce(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	m.Now = noon
	before := newInstance(m, "own", noon)
	before.readLedger(ctx)
	before.ask("x.test", 1)
	before.writeLedger(ctx)
	i := newInstance(m, "own", noon)
	i.storage = unreadable{m, key{"own", kindLedger, ledgerValueName("x.test")}.String()}
	for range 4 {
		i.readLedger(ctx)
		i.Sync(ctx)
	}
	if n := i.logs.FilterMessage("stored values cannot be read").FilterLevelExact(zap.WarnLevel).Len(); n != 1 {
		t.Errorf("warned %d times", n)
	}
	if n := i.logs.FilterMessage("stored values can be read again").Len(); n != 0 {
		t.Errorf("%d recoveries were told", n)
	}
}

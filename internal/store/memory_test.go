package store

import (
	"context"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// TestExpectAfterAFailedLoad makes requests wait for a store although an earlier expected store never
// began.
func TestExpectAfterAFailedLoad(t *testing.T) {
	m := storetest.New()
	memory := newInstance(m, "first", noon).memory
	start := func(restored func()) (end func()) {
		ctx, cancel := context.WithCancel(t.Context())
		done := New(Options{Storage: m, Instance: "first", Memory: memory, Observer: newObserved(), Logger: zap.NewNop(), OnRestored: restored}).Start(ctx, true)
		return func() {
			cancel()
			<-done
		}
	}
	end := start(memory.AnnounceStore(t.Context()))
	<-memory.Restored()
	failing, cancel := context.WithCancel(t.Context())
	memory.AnnounceStore(failing)
	cancel()
	end() // a configuration without a storage

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	memory.AnnounceStore(ctx)
	if isClosed(memory.Restored()) {
		t.Error("nobody waits for what is stored")
	}
}

// sharedRates records whether rates are shared with other instances.
type sharedRates struct {
	Rates
	others bool
}

func (s *sharedRates) SetSharing(_ time.Time, others bool) { s.others = others }

// TestOthersAreForgotten drops the counts of other instances after the last store ends. Their last
// counts must not apply forever.
func TestOthersAreForgotten(t *testing.T) {
	m := storetest.New()
	i, other := newInstance(m, "first", noon), newInstance(m, "second", noon)
	other.readLedger(t.Context())
	other.ask("a.test", 3)
	other.writeLedger(t.Context())
	rates := &sharedRates{i.rate, true}
	i.memory.parts.Rates = rates
	i.readLedger(t.Context())
	if got := i.shown(); got != "map[a.test:3]" {
		t.Fatalf("others are shown as %s", got)
	}
	next := New(Options{Storage: m, Instance: "first", Memory: i.memory, Observer: i.observed, Logger: zap.NewNop(), Now: i.now})
	ctx, cancel := context.WithCancel(t.Context())
	done := i.Start(ctx, true)
	nextCtx, end := context.WithCancel(t.Context())
	nextDone := next.Start(nextCtx, false)
	cancel()
	if <-done; i.memory.PeerLedger() == nil {
		t.Error("a reload forgets what others have counted")
	}
	end()
	if <-nextDone; i.memory.PeerLedger() != nil || rates.others {
		t.Errorf("shown are %s, and rates are shared: %t", i.shown(), rates.others)
	}
}

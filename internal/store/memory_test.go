package store

import (
	"context"
	"testing"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// TestExpectAfterAFailedLoad has requests wait for the store of a configuration also where
// another one was expected before that could not be loaded.
func TestExpectAfterAFailedLoad(t *testing.T) {
	m := storetest.New()
	memory := newInstance(m, "first", noon).memory
	start := func(restored func()) (end func()) {
		ctx, cancel := context.WithCancel(t.Context())
		done := New(Options{Storage: m, Instance: "first", Memory: memory, Observer: newObserved(), Logger: zap.NewNop(), Restored: restored}).Start(ctx, true)
		return func() {
			cancel()
			<-done
		}
	}
	end := start(memory.Expect(t.Context()))
	<-memory.Restored()
	failing, cancel := context.WithCancel(t.Context())
	memory.Expect(failing)
	cancel()
	end() // by a configuration without a storage

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	memory.Expect(ctx)
	memory.begins()
	if isClosed(memory.Restored()) {
		t.Error("nobody waits for what is stored")
	}
}

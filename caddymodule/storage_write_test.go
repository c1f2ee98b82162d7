package caddymodule

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestStoreFailures tries again later, and tells about it once.
func TestStoreFailures(t *testing.T) {
	ctx, m := t.Context(), newMemory()
	m.now = noon
	i := newInstance(m, "first", noon)
	for n := range 10 {
		i.learn(namedKey(fmt.Sprint(n, ".test")), policy.Named, "# x\n")
	}
	m.broken = errors.New("no network")
	i.read(ctx)
	i.logged(t, "the storage cannot be listed; no policies are restored from it")
	i.write(ctx, rewriteInterval)
	if m.writes != maxWriteFailures {
		t.Errorf("%d attempts, want %d", m.writes, maxWriteFailures)
	}
	for range 5 {
		i.write(ctx, rewriteInterval)
	}
	if n := i.logs.FilterLevelExact(zap.WarnLevel).FilterMessage("a value cannot be stored; it is tried again").Len(); n != 1 || m.writes != 10 {
		t.Errorf("%d warnings, %d attempts", n, m.writes)
	}
	m.broken, m.refuse = nil, storageKeyOf("first", namedKey("3.test")).name
	i.time = noon.Add(firstWriteRetry)
	i.write(ctx, rewriteInterval)
	if len(m.values) != 9 {
		t.Errorf("%d are stored, want all but the one that is refused", len(m.values))
	}
	if n := i.logs.FilterMessage("values can be stored again").Len(); n == 0 {
		t.Error("nobody says that it works again")
	}
	m.refuse = ""
	i.time = noon.Add(time.Hour)
	i.write(ctx, 2*time.Hour)
	if len(m.values) != 10 {
		t.Errorf("%d are stored", len(m.values))
	}
}

// TestStoreCutShort writes what is new although it did not learn what is
// stored, but not everything.
func TestStoreCutShort(t *testing.T) {
	m := newMemory()
	m.now = noon
	i := newInstance(m, "first", noon)
	i.learn(siteA, policy.Named, "# before\n")
	i.time = noon.Add(time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	i.began, i.short = i.time, true
	i.read(ctx)
	i.learn(siteURL, policy.Named, "# after\n")
	i.write(t.Context(), rewriteInterval)
	if got := m.keys(); len(got) != 1 || got[0] != storageKeyOf("first", siteURL).String() {
		t.Errorf("stored are %v", got)
	}
}

// TestStoreForgets does not remember sites for ever.
func TestStoreForgets(t *testing.T) {
	m := newMemory()
	i := newInstance(m, "first", noon)
	for n := range 500 {
		i.stored[policy.Key{Host: fmt.Sprint(n)}] = storedPolicy{}
	}
	i.learn(siteA, policy.Named, "# a\n")
	i.write(t.Context(), rewriteInterval)
	if len(i.stored) != 1 {
		t.Errorf("%d are remembered, want 1", len(i.stored))
	}
}

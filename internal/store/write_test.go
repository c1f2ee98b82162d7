package store

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestStoreFailures retries later and logs a failure once.
func TestStoreFailures(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	m.Now = noon
	i := newInstance(m, "first", noon)
	for n := range 10 {
		i.learn(namedKey(fmt.Sprint(n, ".test")), policy.ConfiguredHosts, "# x\n")
	}
	m.Err = errors.New("no network")
	i.Read(ctx)
	i.logged(t, "the storage cannot be listed; no policies are restored from it")
	i.Write(ctx)
	if m.WriteAttempts != maxWriteFailures {
		t.Errorf("%d attempts, want %d", m.WriteAttempts, maxWriteFailures)
	}
	for range 5 {
		i.Write(ctx)
	}
	if n := i.logs.FilterLevelExact(zap.WarnLevel).FilterMessage("a value cannot be stored; the guard tries again").Len(); n != 1 || m.WriteAttempts != 10 {
		t.Errorf("%d warnings, %d attempts", n, m.WriteAttempts)
	}
	m.Err, m.RejectedKeyPart = nil, policyKey("first", namedKey("3.test")).name
	i.time = noon.Add(minWriteRetryDelay)
	i.Write(ctx)
	if len(m.Values) != 9 {
		t.Errorf("%d are stored, want all but the one that is refused", len(m.Values))
	}
	if n := i.logs.FilterMessage("values can be stored again").Len(); n == 0 {
		t.Error("nobody says that it works again")
	}
	m.RejectedKeyPart = ""
	i.time = noon.Add(time.Hour)
	i.Write(ctx)
	if len(m.Values) != 10 {
		t.Errorf("%d are stored", len(m.Values))
	}
}

// TestStoreAtTheEnd retries failed values immediately at the end.
func TestStoreAtTheEnd(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	i := newInstance(m, "first", noon)
	i.Read(ctx)
	i.learn(siteA, policy.ConfiguredHosts, open)
	i.visit(siteA)
	m.RejectedKeyPart = "first"
	i.writeAll(ctx, false)
	m.RejectedKeyPart = ""
	i.writeAll(ctx, false)
	if len(m.Values) != 0 {
		t.Errorf("stored are %v although nothing was due", m.Keys())
	}
	i.writeAll(ctx, true)
	if len(m.Values) != 2 {
		t.Errorf("stored are %v, want the policy and the reading", m.Keys())
	}
}

// TestStoreCutShort writes new values although the stored ones were not read, but not all kinds.
func TestStoreCutShort(t *testing.T) {
	m := storetest.New()
	m.Now = noon
	i := newInstance(m, "first", noon)
	i.learn(siteA, policy.ConfiguredHosts, "# before\n")
	i.time = noon.Add(time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	i.policies.startedAt, i.policies.endedEarly = i.time, true
	i.Read(ctx)
	i.learn(siteURL, policy.ConfiguredHosts, "# after\n")
	i.Write(t.Context())
	if got := m.Keys(); len(got) != 1 || got[0] != policyKey("first", siteURL).String() {
		t.Errorf("stored are %v", got)
	}
}

// TestStoreForgets drops the records of sites that are not cached.
func TestStoreForgets(t *testing.T) {
	m := storetest.New()
	i := newInstance(m, "first", noon)
	for n := range 5000 {
		i.policies.stored[policy.Key{Host: fmt.Sprint(n)}] = storedPolicy{}
	}
	i.learn(siteA, policy.ConfiguredHosts, "# a\n")
	i.Write(t.Context())
	if len(i.policies.stored) != 1 {
		t.Errorf("%d are remembered, want 1", len(i.policies.stored))
	}
}

// TestStoreWritesWhereItLeads writes an unchanged policy whose redirects have changed. After a
// restart crawlers may then follow the redirects.
func TestStoreWritesWhereItLeads(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	first := newInstance(m, "first", noon)
	first.Read(ctx)
	for n, via := range [][]string{nil, {"/a"}, {"/a"}, {"/b"}} {
		first.time = noon.Add(time.Duration(n) * time.Minute)
		e := first.cache.GetOrCreate(siteA, policy.ConfiguredHosts)
		e.MakeDue()
		<-e.Refresh(policy.FreshnessPolicy{}, func() policy.FetchResult {
			return policy.FetchResult{Status: http.StatusOK, Body: []byte("# a\n"), RedirectTargets: via}
		}, nil)
		first.Write(ctx)
	}
	if m.WriteAttempts != 3 {
		t.Errorf("%d writes, want 3", m.WriteAttempts)
	}
	again := newInstance(m, "first", noon.Add(time.Hour/2))
	again.Read(ctx)
	if via := again.cache.Get(siteA).State().RedirectTargets; len(via) != 1 || via[0] != "/b" {
		t.Errorf("it leads to %v", via)
	}
	if again.Write(ctx); m.WriteAttempts != 3 {
		t.Error("what was read was written again")
	}
}

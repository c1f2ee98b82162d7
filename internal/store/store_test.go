package store

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestStoreAfterRestart restores all parts after a restart.
func TestStoreAfterRestart(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	m.Now = noon
	first := newInstance(m, "first", noon)
	first.Read(ctx)
	first.learn(siteA, policy.ConfiguredHosts, "# one\n")
	first.learn(siteURL, policy.ConfiguredHosts, "# url\n")
	first.learn(siteF, policy.ConfiguredHosts, "# file\n")
	first.learn(policy.Key{Host: "invented.test"}, policy.UnknownHosts, "# invented\n")
	first.cache.GetOrCreate(namedKey("unknown.test"), policy.ConfiguredHosts)
	first.Write(ctx)
	if len(m.Values) != 3 {
		t.Fatalf("stored are %v", m.Keys())
	}
	first.Write(ctx)
	if m.WriteAttempts != 3 {
		t.Errorf("%d writes, want 3", m.WriteAttempts)
	}

	first.time = noon.Add(30 * time.Minute)
	first.learn(siteA, policy.ConfiguredHosts, "# one\n")
	first.Write(ctx)
	if m.WriteAttempts != 3 {
		t.Error("an unchanged version was written again within the hour")
	}
	first.learn(siteA, policy.ConfiguredHosts, "User-agent: zorkly\n")
	first.Write(ctx)
	if m.WriteAttempts != 4 {
		t.Error("a new version was not written")
	}
	first.time = noon.Add(90 * time.Minute)
	first.learn(siteA, policy.ConfiguredHosts, "User-agent: zorkly\n")
	first.Write(ctx)
	if m.WriteAttempts != 5 {
		t.Error("that an old version is still current was not written")
	}

	again := newInstance(m, "first", noon.Add(2*time.Hour))
	again.Read(ctx)
	for key, want := range map[policy.Key]string{siteA: "User-agent: zorkly\n", siteURL: "# url\n", siteF: "# file\n", {Host: "invented.test"}: "(nothing)"} {
		if got := again.text(key); got != want {
			t.Errorf("%v: got %q, want %q", key, got, want)
		}
	}
	if past := again.cache.Get(siteA).State().Previous; len(past) != 1 || past[0].Robots.Text() != "# one\n" {
		t.Errorf("%d past versions", len(past))
	}
	if !again.cache.Get(siteA).IsDue(again.time) {
		t.Error("a copy that is not fresh any more is not due")
	}
	if again.cache.Get(siteA).State().Current.Derived == nil {
		t.Error("the names in the file are not known")
	}
	again.Write(ctx)
	if m.WriteAttempts != 5 {
		t.Error("what was read was written again")
	}
	again.logged(t, "policies restored from the storage")
}

// TestStoreRuns starts and stops a store. Unsaved changes are written at the end.
func TestStoreRuns(t *testing.T) {
	m := storetest.New()
	i := newInstance(m, "first", noon)
	ctx, cancel := context.WithCancel(t.Context())
	done := i.Start(ctx, true)
	i.learn(siteA, policy.ConfiguredHosts, "# a\n")
	cancel()
	if !isClosedWithin(done, 10*time.Second) {
		t.Fatal("it does not end")
	}
	if len(m.Values) != 1 {
		t.Errorf("stored are %v", m.Keys())
	}
}

// TestStoreSlow checks that a slow storage does not prevent a start or a stop.
func TestStoreSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := storetest.New()
		m.BlockList = make(chan struct{})
		i := newInstance(m, "first", noon)
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		done := i.Start(ctx, true)
		if took := time.Since(start); took != maxStartWait {
			t.Errorf("the start took %v, want %v", took, maxStartWait)
		}
		if i.memory.IsFirstReadPending() {
			t.Error("crawlers wait for the storage even now")
		}
		cancel()
		if isClosedWithin(done, time.Minute) {
			t.Error("it has ended before the storage answered")
		}
		close(m.BlockList)
		if !isClosedWithin(done, StopTimeout) {
			t.Error("it does not end")
		}
	})
}

// TestStoreWritesInTime stores a new version within five seconds.
func TestStoreWritesInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := storetest.New()
		i := newInstance(m, "first", noon)
		i.now = time.Now
		ctx, cancel := context.WithCancel(t.Context())
		done := i.Start(ctx, true)
		for n := range 20 {
			time.Sleep(time.Duration(n) * 317 * time.Millisecond)
			key := namedKey(fmt.Sprint(n, ".test"))
			for _, text := range []string{"# first\n", "# second\n"} {
				i.learn(key, policy.ConfiguredHosts, text)
				time.Sleep(5 * time.Second)
				synctest.Wait()
				data, err := m.Load(ctx, policyKey("first", key).String())
				if err != nil {
					t.Fatalf("site %d: %v", n, err)
				}
				snapshot, err := policy.DecodeSnapshot(data)
				if err != nil || snapshot.State.Current.Robots.Text() != text {
					t.Errorf("site %d: what is stored is not what was read 5 s ago, %v", n, err)
				}
			}
		}
		cancel()
		<-done
	})
}

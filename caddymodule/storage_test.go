package caddymodule

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// instance is a server with a cold cache, at a time of its own.
type instance struct {
	*store
	logs *observer.ObservedLogs
	time time.Time
}

func newInstance(m *memory, id string, now time.Time) *instance {
	core, logs := observer.New(zap.DebugLevel)
	i := &instance{logs: logs, time: now}
	clock := func() time.Time { return i.time }
	verifier := verify.New(verify.Options{Now: clock, Transport: lists{"https://acme.test/bots.txt": "192.0.2.0/24\n"}})
	i.store = &store{
		storage: m, stat: m.stat, instance: id, logger: zap.New(core), now: clock, maxKeys: 1000, restored: func() {},
		state: &state{
			cache:   policy.NewCache(namedBounds, inventedBounds, clock, deriveNames),
			readers: ledger.NewReaders(100, 100),
			changes: changes{clock: clock},

			verifier: verifier,
		},
		stored:  make(map[policy.Key]storedPolicy),
		unnamed: make(map[policy.Key]bool),
		notes:   newNotes(),
	}
	return i
}

// learn reads the robots.txt of a site.
func (i *instance) learn(key policy.Key, segment policy.Segment, text string) {
	e := i.state.cache.Add(key, segment)
	e.Hasten()
	<-e.Refresh(policy.Freshness{Default: 10 * time.Minute, Max: policy.MaxAge},
		func() policy.Answer { return policy.Answer{Status: 200, Body: []byte(text)} }, nil)
}

// text returns what an instance knows of a site.
func (i *instance) text(key policy.Key) string {
	if e := i.state.cache.Get(key); e != nil && e.Standing() != nil && e.Standing().Good != nil {
		return e.Standing().Good.Robots.Text()
	}
	return "(nothing)"
}

// logged fails unless one line of a level has this message.
func (i *instance) logged(t *testing.T, message string) {
	t.Helper()
	if n := i.logs.FilterMessage(message).Len(); n != 1 {
		t.Errorf("%d lines %q: %v", n, message, i.logs.All())
	}
}

var (
	siteA   = namedKey("a.test")
	siteURL = policy.Key{Source: "https://example.com/robots.txt"}
	siteF   = policy.Key{Source: "/srv/robots.txt"}

	noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
)

// TestStoreAfterRestart knows again what was known.
func TestStoreAfterRestart(t *testing.T) {
	ctx, m := t.Context(), newMemory()
	m.now = noon
	first := newInstance(m, "first", noon)
	first.read(ctx)
	first.learn(siteA, policy.Named, "# one\n")
	first.learn(siteURL, policy.Named, "# url\n")
	first.learn(siteF, policy.Named, "# file\n")
	first.learn(policy.Key{Host: "invented.test"}, policy.Invented, "# invented\n")
	first.state.cache.Add(namedKey("unknown.test"), policy.Named)
	first.write(ctx, rewriteInterval)
	if len(m.values) != 3 {
		t.Fatalf("stored are %v", m.keys())
	}
	first.write(ctx, rewriteInterval)
	if m.writes != 3 {
		t.Errorf("%d writes, want 3", m.writes)
	}

	first.time = noon.Add(30 * time.Minute)
	first.learn(siteA, policy.Named, "# one\n")
	first.write(ctx, rewriteInterval)
	if m.writes != 3 {
		t.Error("an unchanged version was written again within the hour")
	}
	first.learn(siteA, policy.Named, "User-agent: zorkly\n")
	first.write(ctx, rewriteInterval)
	if m.writes != 4 {
		t.Error("a new version was not written")
	}
	first.time = noon.Add(90 * time.Minute)
	first.learn(siteA, policy.Named, "User-agent: zorkly\n")
	first.write(ctx, rewriteInterval)
	if m.writes != 5 {
		t.Error("that an old version is still current was not written")
	}

	again := newInstance(m, "first", noon.Add(2*time.Hour))
	again.read(ctx)
	for key, want := range map[policy.Key]string{siteA: "User-agent: zorkly\n", siteURL: "# url\n", siteF: "# file\n", {Host: "invented.test"}: "(nothing)"} {
		if got := again.text(key); got != want {
			t.Errorf("%v: got %q, want %q", key, got, want)
		}
	}
	if past := again.state.cache.Get(siteA).Standing().Past; len(past) != 1 || past[0].Robots.Text() != "# one\n" {
		t.Errorf("%d past versions", len(past))
	}
	if !again.state.cache.Get(siteA).Due(again.time) {
		t.Error("a copy that is not fresh any more is not due")
	}
	if overlayOf(uaident.Default(), again.state.cache.Get(siteA).Standing()) == nil {
		t.Error("the names in the file are not known")
	}
	again.write(ctx, rewriteInterval)
	if m.writes != 5 {
		t.Error("what was read was written again")
	}
	again.logged(t, "policies restored from the storage")
}

// TestStoreRuns starts and ends: what is pending at the end is written.
func TestStoreRuns(t *testing.T) {
	m := newMemory()
	i := newInstance(m, "first", noon)
	ctx, cancel := context.WithCancel(t.Context())
	done := i.start(ctx, true)
	i.learn(siteA, policy.Named, "# a\n")
	cancel()
	if !ended(done, 10*time.Second) {
		t.Fatal("it does not end")
	}
	if len(m.values) != 1 {
		t.Errorf("stored are %v", m.keys())
	}
}

// TestStoreSlow neither keeps a server from starting nor from stopping.
func TestStoreSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.silent = make(chan struct{})
		i := newInstance(m, "first", noon)
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		done := i.start(ctx, true)
		if took := time.Since(start); took != startWait {
			t.Errorf("the start took %v, want %v", took, startWait)
		}
		if i.state.cold.Load() {
			t.Error("crawlers wait for the storage even now")
		}
		cancel()
		if ended(done, time.Minute) {
			t.Error("it has ended before the storage answered")
		}
		close(m.silent)
		if !ended(done, stopWait) {
			t.Error("it does not end")
		}
	})
}

// TestStoreWritesInTime stores a new version within 5 s, whenever it is read.
func TestStoreWritesInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		i := newInstance(m, "first", noon)
		i.now = time.Now
		ctx, cancel := context.WithCancel(t.Context())
		done := i.start(ctx, true)
		for n := range 20 {
			time.Sleep(time.Duration(n) * 317 * time.Millisecond)
			key := namedKey(fmt.Sprint(n, ".test"))
			for _, text := range []string{"# first\n", "# second\n"} {
				i.learn(key, policy.Named, text)
				time.Sleep(5 * time.Second)
				synctest.Wait()
				data, err := m.Load(ctx, storageKeyOf("first", key).String())
				if err != nil {
					t.Fatalf("site %d: %v", n, err)
				}
				snapshot, err := policy.DecodeSnapshot(data)
				if err != nil || snapshot.Standing.Good.Robots.Text() != text {
					t.Errorf("site %d: what is stored is not what was read 5 s ago, %v", n, err)
				}
			}
		}
		cancel()
		<-done
	})
}

package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestListsPrefixes lists only the required directories, and never a whole storage, which may
// contain many other values.
func TestListsPrefixes(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	m.Now = noon
	for _, id := range []string{"first", "second"} {
		i := newInstance(m, id, noon)
		i.Read(ctx)
		i.readLedger(ctx)
		i.learn(siteA, policy.ConfiguredHosts, open)
		i.visit(siteA)
		i.ask("a.test", 1)
		i.Write(ctx)
		i.writeLedger(ctx)
	}
	m.Values["robots_guard/v1/note.txt"] = []byte("not ours")
	i := newInstance(m, "first", noon)
	listed := func(look func()) string {
		m.ListedDirs = nil
		look()
		for n, directory := range m.ListedDirs {
			m.ListedDirs[n] = strings.TrimPrefix(directory, rootDir)
		}
		slices.Sort(m.ListedDirs)
		return strings.Join(m.ListedDirs, " ")
	}
	all := func(instance string) string {
		return fmt.Sprintf(" /%[1]s/changes /%[1]s/copies /%[1]s/notes /%[1]s/policies /%[1]s/policies /%[1]s/set_aside", instance)
	}
	for _, tc := range []struct {
		name string
		look func()
		want string
	}{
		{"all", func() { i.Read(ctx) }, all("first") + all("note.txt") + all("second")},
		{"what peers have noted", func() { i.Sync(ctx) }, " /note.txt/changes /note.txt/copies /note.txt/notes /second/changes /second/copies /second/notes"},
		{"the ledgers", func() { i.readLedger(ctx) }, " /first/ledger /note.txt/ledger /second/ledger"},
	} {
		if got := listed(tc.look); got != tc.want {
			t.Errorf("%s: listed are\n%s, want\n%s", tc.name, got, tc.want)
		}
	}
}

// TestPeersTroubleIsToldOnce logs the failures of a peer once, although the peer is read repeatedly.
func TestPeersTroubleIsToldOnce(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	m.Now = noon
	i := newInstance(m, "first", noon)
	i.Read(ctx)
	noise := key{"second", kindChanges, siteValueName(siteA)}.String()
	m.Values[noise], m.ModTimes[noise] = []byte("noise"), noon
	for range 10 {
		i.Sync(ctx)
		i.time = i.time.Add(syncInterval)
	}
	i.logged(t, "stored values cannot be used and are set aside")
	m.ModTimes[noise] = i.time
	i.Sync(ctx)
	if n := i.logs.FilterMessage("stored values cannot be used and are set aside").Len(); n != 2 {
		t.Errorf("%d warnings after it was written again, want another", n)
	}

	m.Err = errors.New("no network")
	for range 10 {
		i.Sync(ctx)
	}
	if n := i.logs.FilterMessage("stored values cannot be read").FilterLevelExact(zap.WarnLevel).Len(); n != 1 {
		t.Errorf("%d warnings of a storage that is down, want 1", n)
	}
	m.Err = nil
	i.Sync(ctx)
	i.logged(t, "stored values can be read again")
}

// TestIdlePeers checks that idle peers are rarely read.
func TestIdlePeers(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	m.Now = noon
	second := newInstance(m, "second", noon)
	second.Read(ctx)
	second.visit(siteA)
	second.Write(ctx)
	looks := func(i *instance, times int) (n int) {
		m.ListedDirs = nil
		for range times {
			i.Sync(ctx)
		}
		for _, directory := range m.ListedDirs {
			if strings.HasSuffix(directory, "/second/changes") {
				n++
			}
		}
		return n
	}
	first := newInstance(m, "first", noon)
	first.Read(ctx)
	for _, tc := range []struct {
		after time.Duration
		want  int
	}{{0, 2 * idleSyncFactor}, {peerIdleAfter - 1, 2 * idleSyncFactor}, {peerIdleAfter, 2}} {
		first.time = noon.Add(tc.after)
		if n := looks(first, 2*idleSyncFactor); n != tc.want {
			t.Errorf("after %v: %d looks of %d, want %d", tc.after, n, 2*idleSyncFactor, tc.want)
		}
	}
	second.time = first.time
	second.visit(siteA)
	m.Now = first.time
	second.Write(ctx)
	looks(first, idleSyncFactor)
	if n := looks(first, idleSyncFactor); n != idleSyncFactor {
		t.Errorf("after it was heard of again: %d looks, want all", n)
	}
}

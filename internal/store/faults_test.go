package store

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// texts are the successive files of siteA. The first was served before the storage fails.
var texts = []string{open, shut, open + "Disallow: /again/\n"}

// remembers is the stored knowledge of an instance.
type remembers struct {
	text     string    // index of siteA's file in texts, or -1
	versions []bool    // versions that a crawler may still use
	visited  time.Time // last visit at any instance
	counts   string
	alerts   string
	lists    bool
}

func (i *instance) remembers() (all remembers) {
	all = remembers{text: fmt.Sprint(slices.Index(texts, i.text(siteA))), visited: i.lastVisit(siteA), counts: i.shown(), alerts: i.known.read()}
	current := i.text(siteA)
	usable, _ := i.others(current, "")
	for _, text := range texts {
		all.versions = append(all.versions, text == current || slices.Contains(usable, text))
	}
	all.lists = i.verifier.Check(&acme, netip.MustParseAddr("192.0.2.1")).State == verify.Verified
	return all
}

// begin starts an instance.
func begin(t *testing.T, m *storetest.Storage, id string) *instance {
	i := newInstance(m, id, m.Now)
	t.Cleanup(i.verifier.Close)
	if err := i.verifier.Configure(verify.Config{Crawlers: []uaident.Crawler{acme}, Ranges: true}); err != nil {
		t.Fatal(err)
	}
	return i
}

func (i *instance) readAllStored(ctx context.Context) { i.Read(ctx) }

// works runs the typical operations of an instance. It reads stored values, fetches changed files,
// handles requests, acknowledges alerts and stops.
func (i *instance) works(ctx context.Context, each func()) {
	step := func(after time.Duration, do ...func(context.Context)) {
		i.time = i.time.Add(after)
		i.inMemory.Now = i.time
		for _, do := range do {
			do(ctx)
		}
		each()
	}
	step(0, i.readAllStored, i.readLedger)
	step(2*time.Second, i.Write)
	i.learns(texts[1])
	i.visit(siteA)
	i.ask("a.test", 1)
	i.known.write(1, `{"known":2}`)
	step(2*time.Second, i.Write, i.Sync, i.writeLedger)
	i.time = i.time.Add(time.Minute)
	i.learns(texts[2])
	i.visit(siteA)
	i.ask("a.test", 2)
	step(11*time.Second, i.Write, i.Sync, i.writeLedger, i.readLedger)
	i.visit(siteA)
	i.ask("a.test", 1)
	step(time.Second, func(ctx context.Context) { i.writeAll(ctx, true) }, func(ctx context.Context) { i.writeKind(ctx, &i.ledgerKind, true) })
}

// lived returns a storage of an earlier process, with a damaged value and an unneeded value.
func lived(t *testing.T) *storetest.Storage {
	m := storetest.New()
	m.Now = noon.Add(-40 * 24 * time.Hour)
	dead := begin(t, m, "dead")
	dead.learn(siteURL, policy.ConfiguredHosts, open)
	dead.Write(t.Context())
	m.Now = noon.Add(-time.Hour)
	for _, id := range []string{"first", "second"} {
		i := begin(t, m, id)
		i.Read(t.Context())
		i.readLedger(t.Context())
		i.learns(texts[0])
		i.visit(siteA)
		i.verifier.Explain(t.Context(), &acme, netip.MustParseAddr("192.0.2.1"), true)
		i.fetched++
		i.known.write(1, `{"known":1}`)
		i.ask("a.test", 5)
		i.Write(t.Context())
		i.writeLedger(t.Context())
	}
	m.Values[policyKey("first", namedKey("damaged.test")).String()] = []byte("noise")
	m.ModTimes[policyKey("first", namedKey("damaged.test")).String()] = m.Now
	m.Now = noon
	return m
}

// TestEachOperationOfAStorage injects every kind of fault into every storage operation of an
// instance.
//
// A single fault loses nothing: the final values equal those of a run without a fault. After a
// crash, the next process has a served file that is not older than the stored one, and the recorded
// visits. The other instance runs all the time, and no request waits.
func TestEachOperationOfAStorage(t *testing.T) {
	t.Parallel()
	before := lived(t)
	clean := &storetest.Faulty{Storage: before.Clone()}
	whole := lives(t, clean)
	if whole.text != "2" || whole.counts != "map[a.test:14]" || !whole.lists || whole.alerts != `{"known":2}` || !slices.Equal(whole.versions, []bool{true, true, true}) {
		t.Fatalf("without a fault: %+v", whole)
	}
	faults := storetest.Faults(clean.Ops())
	if len(faults) < 200 {
		t.Fatalf("%d faults only, at %d operations", len(faults), len(clean.Ops()))
	}
	for i := range faults {
		f := &faults[i]
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			f.Storage = before.Clone()
			switch got := lives(t, f); {
			case !f.Crash && fmt.Sprint(got) != fmt.Sprint(whole):
				t.Errorf("%v: it remembers %+v, want %+v", f, got, whole)
			case f.Crash:
				isLeft(t, f, got)
			}
			if took := time.Since(began); took > operationTimeout {
				t.Errorf("%v: it took %v", f, took)
			}
		})
	}
	t.Logf("%d faults at %d operations", len(faults), len(clean.Ops()))
}

// lives runs an instance with a storage, and returns the knowledge of the next process.
func lives(t *testing.T, f *storetest.Faulty) remembers {
	t.Helper()
	ctx := t.Context()
	m := f.Storage
	other := begin(t, m, "second")
	other.Read(ctx)
	had := other.text(siteA)
	i := begin(t, m, "first")
	i.storage = f
	i.works(ctx, func() {
		other.time = i.time
		other.Sync(ctx)
		other.Write(ctx)
		if got := other.text(siteA); got != had && !slices.Contains(texts, got) || other.lastVisit(siteA).IsZero() {
			t.Errorf("%v: the other instance knows %q, last visit %v", f, got, other.lastVisit(siteA))
		}
	})
	if !f.Crash { // the storage works again
		for _, do := range []func(context.Context){i.Write, i.readLedger, i.writeLedger, i.Sync, i.readAllStored} {
			i.time = i.time.Add(maxWriteRetryDelay)
			m.Now = i.time
			do(ctx)
		}
	}
	m.Now = i.time
	next := begin(t, m, "first")
	next.Read(ctx)
	next.readLedger(ctx)
	return next.remembers()
}

// isLeft fails the test unless the next process can continue after a crash.
func isLeft(t *testing.T, f *storetest.Faulty, got remembers) {
	t.Helper()
	torn := func(kind string) bool {
		return f.Fault == storetest.Torn && strings.HasPrefix(f.FailingOp, "store ") && strings.Contains(f.FailingOp, "/"+kind+"/")
	}
	stored := f.WriteCount(policyKey("first", siteA).String())
	known := slices.Index([]string{"0", "1", "2"}, got.text)
	if least := min(stored, 2); known < least && !torn(kindPolicies) {
		t.Errorf("%v: after a crash the text is the one of %q, although it was stored %d times", f, got.text, stored)
	}
	if !got.versions[0] && !torn(kindCopies) {
		t.Errorf("%v: after a crash a crawler may not keep to what it has read before", f)
	}
	if got.visited.IsZero() || !got.lists || got.alerts != `{"known":1}` && got.alerts != `{"known":2}` {
		t.Errorf("%v: after a crash it remembers %+v", f, got)
	}
	if !slices.Contains([]string{"map[a.test:10]", "map[a.test:11]", "map[a.test:13]", "map[a.test:14]"}, got.counts) && !torn(kindLedger) {
		t.Errorf("%v: after a crash it has counted %s", f, got.counts)
	}
	again := lives(t, &storetest.Faulty{Storage: f.Storage})
	if again.text != "2" || !again.lists || again.alerts != `{"known":2}` || again.visited.Before(got.visited) {
		t.Errorf("%v: after a crash and another life it remembers %+v", f, again)
	}
}

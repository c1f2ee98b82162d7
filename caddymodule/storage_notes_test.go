package caddymodule

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

func bingOf(key policy.Key) ledger.Reader {
	return ledger.Reader{Site: key, Crawler: "bingbot", Network: netip.MustParsePrefix("192.0.2.0/24")}
}

// reads notes that bingbot has read the robots.txt of a site.
func (i *instance) reads(key policy.Key) {
	i.state.readers.Read(bingOf(key), ledger.Reading{At: i.time, Status: 200, Hash: [32]byte{1}})
}

// hasRead reports when bingbot has read it, as far as this instance knows.
func (i *instance) hasRead(key policy.Key) time.Time {
	last, _ := i.state.readers.Last(bingOf(key))
	return last.At
}

// later lets time pass and writes what is pending.
func (i *instance) later(t *testing.T, d time.Duration) {
	t.Helper()
	i.time = i.time.Add(d)
	i.storage.(*memory).now = i.time
	i.write(t.Context(), rewriteInterval)
	i.writeNotes(t.Context(), false)
}

func TestNotesOfReadersOverARestart(t *testing.T) {
	ctx, m := t.Context(), newMemory()
	first := newInstance(m, "first", noon)
	first.reads(siteA)
	first.writeNotes(ctx, false)
	if len(m.values) != 0 {
		t.Fatalf("%v are written before it is known what is stored", m.keys())
	}
	first.read(ctx)
	first.later(t, 0)
	if got := m.keys(); len(got) != 1 || !strings.HasPrefix(got[0], "robots_guard/v1/first/readers/") {
		t.Fatalf("stored are %v", got)
	}
	for step, want := range []struct {
		after  time.Duration
		read   bool
		writes int
	}{
		{2 * time.Second, false, 1}, // nothing is new
		{2 * time.Second, true, 1},  // it was written just now
		{6 * time.Second, false, 2},
		{time.Hour, false, 2},
		{renewNotes, false, 3}, // so that nobody takes it for a dead one's
		{time.Hour, false, 3},
	} {
		first.time = first.time.Add(want.after)
		if want.read {
			first.reads(siteA)
		}
		first.later(t, 0)
		if m.writes != want.writes {
			t.Errorf("step %d: %d writes, want %d", step, m.writes, want.writes)
		}
	}

	again := newInstance(m, "first", first.time)
	again.read(ctx)
	if got := again.hasRead(siteA); !got.Equal(first.hasRead(siteA)) || got.IsZero() {
		t.Errorf("after a restart it was read at %v, want %v", got, first.hasRead(siteA))
	}
	again.later(t, noteInterval)
	if m.writes != 3 {
		t.Error("what was read from the storage was written again")
	}
	again.reads(siteA)
	again.writeNotes(ctx, true)
	if m.writes != 4 {
		t.Error("what was read last is not written at the end")
	}
}

func TestNotesOfSiblings(t *testing.T) {
	ctx, m := t.Context(), newMemory()
	first, second := newInstance(m, "first", noon), newInstance(m, "second", noon)
	first.read(ctx)
	second.read(ctx)
	first.reads(siteA)
	first.later(t, 0)
	second.syncNotes(ctx)
	if got := second.hasRead(siteA); !got.Equal(noon) {
		t.Errorf("read at %v, as far as a sibling knows", got)
	}
	second.later(t, noteInterval)
	if len(m.values) != 1 {
		t.Errorf("what a sibling has stored is stored again: %v", m.keys())
	}
	first.time = noon.Add(time.Minute)
	first.reads(siteA)
	first.later(t, 0)
	second.time = noon.Add(2 * time.Minute)
	second.syncNotes(ctx)
	if got := second.hasRead(siteA); !got.Equal(noon.Add(time.Minute)) {
		t.Errorf("read at %v, as far as a sibling knows", got)
	}
	cold := newInstance(m, "third", second.time)
	cold.read(ctx)
	if got := cold.hasRead(siteA); got.IsZero() {
		t.Error("one that starts does not know")
	}

	// A sibling that is dead is looked at now and then, and its notes go in the end.
	last := noon.Add(time.Minute)
	second.time = last.Add(maxUnrefreshed - 1)
	second.read(ctx)
	if len(m.values) != 1 {
		t.Errorf("left are %v", m.keys())
	}
	second.time = last.Add(maxUnrefreshed)
	second.read(ctx)
	if len(m.values) != 0 {
		t.Errorf("left are %v", m.keys())
	}
}

func TestNotesSetAside(t *testing.T) {
	ctx, m := t.Context(), newMemory()
	m.now = noon
	first := newInstance(m, "first", noon)
	first.read(ctx)
	first.reads(siteA)
	first.later(t, 0)
	key := m.keys()[0]
	future := strings.Replace(string(m.values[key]), `"format":2`, `"format":9`, 1)
	m.values[key] = []byte(future)
	for name, value := range map[string]string{"second/readers/0": "noise", "second/changes/x": future} {
		name = "robots_guard/v1/" + name + ".json"
		m.values[name], m.times[name] = []byte(value), noon
	}
	before := counted(t, sharedMetrics().reads, dirReaders, readSetAside)

	again := newInstance(m, "first", noon)
	again.read(ctx)
	again.logged(t, "stored values cannot be used and are set aside")
	aside := strings.Replace(key, "readers/", "set_aside/readers-", 1)
	if string(m.values[aside]) != future {
		t.Errorf("it is not kept: %v", m.keys())
	}
	if after := counted(t, sharedMetrics().reads, dirReaders, readSetAside); after != before+2 {
		t.Error("it is not counted")
	}
	again.reads(siteA)
	again.later(t, 0)
	if m.values[key] == nil {
		t.Error("nothing is stored in its place")
	}
}

// TestNotesOfAnEarlierVersion are not taken in, without a warning: what this
// instance has written of them goes, what another one has stays until that one
// is gone.
func TestNotesOfAnEarlierVersion(t *testing.T) {
	ctx, m := t.Context(), newMemory()
	m.now = noon
	own := []string{readersKey("first", 0).String(), storageKey{"first", dirChanges, "x.json"}.String()}
	others := []string{readersKey("second", 0).String(), storageKey{"second", dirChanges, "x.json"}.String()}
	for _, key := range slices.Concat(own, others) {
		m.values[key], m.times[key] = []byte(`{"format":1}`), noon
	}
	first := newInstance(m, "first", noon.Add(time.Hour))
	first.read(ctx)
	first.syncNotes(ctx)
	slices.Sort(others)
	if got := m.keys(); !slices.Equal(got, others) {
		t.Errorf("left are %v, want %v", got, others)
	}
	if n := first.logs.FilterLevelExact(zap.WarnLevel).Len(); n != 0 {
		t.Errorf("%d warnings: %v", n, first.logs.All())
	}
	first.reads(siteA)
	first.later(t, 0)
	if len(m.values) != len(others)+1 {
		t.Errorf("stored are %v, want what was read now, too", m.keys())
	}

	newInstance(m, "first", noon.Add(maxUnrefreshed)).read(ctx)
	for _, key := range others {
		if m.values[key] != nil {
			t.Errorf("%s is left of an instance that is gone", key)
		}
	}
}

// TestNotesAreNotLostByAFailure reads what was stored before it replaces it.
func TestNotesAreNotLostByAFailure(t *testing.T) {
	ctx, m := t.Context(), newMemory()
	first := newInstance(m, "first", noon)
	first.read(ctx)
	first.reads(siteA)
	first.later(t, 0)

	m.broken = errors.New("no network")
	again := newInstance(m, "first", noon.Add(time.Hour))
	again.read(ctx)
	again.syncNotes(ctx)
	m.broken = nil
	again.reads(siteURL)
	again.later(t, 0)
	if m.writes != 1 {
		t.Error("it was written before it was read")
	}
	again.syncNotes(ctx)
	again.later(t, 0)
	cold := newInstance(m, "third", again.time)
	cold.read(ctx)
	if cold.hasRead(siteA).IsZero() || cold.hasRead(siteURL).IsZero() {
		t.Errorf("read at %v and %v", cold.hasRead(siteA), cold.hasRead(siteURL))
	}
}

const shut = "User-agent: *\nDisallow: /\n"

// guards makes an instance hold changes back.
func (i *instance) guards(t *testing.T) *instance {
	i.state.changes.guarded(t.Context())
	return i
}

// served notes that a search engine was served a page.
func (i *instance) served(key policy.Key, target string) {
	e := i.state.cache.Get(key)
	i.state.changes.served(site{key: key}, e.Standing().Good,
		ledger.Visit{Crawler: "Googlebot", Chain: []string{"Googlebot"}, Wildcard: true, Host: "a.test", Target: target})
}

// heldUntil returns until when each version is held back, by its text.
func (i *instance) heldUntil(key policy.Key) map[string]time.Time {
	all := make(map[string]time.Time)
	holds, _ := i.state.changes.look(site{key: key}, i.state.cache.Get(key).Standing(), heldFor, false)
	for _, h := range holds {
		all[h.version.Robots.Text()] = h.until
	}
	return all
}

// held fails unless the change from one text is held back until then, none if it is zero.
func (i *instance) held(t *testing.T, what, text string, until time.Time) {
	t.Helper()
	all := i.heldUntil(siteA)
	if got := all[text]; !got.Equal(until) || until.IsZero() != (len(all) == 0) {
		t.Errorf("%s: held are %v, want until %v", what, all, until)
	}
}

const open = "User-agent: *\nDisallow: /private/\n"

// TestAHeldChangeOverARestart holds a change back for the rest of its time.
func TestAHeldChangeOverARestart(t *testing.T) {
	ctx, m := t.Context(), newMemory()
	first := newInstance(m, "first", noon).guards(t)
	first.read(ctx)
	first.learn(siteA, policy.Named, open)
	first.served(siteA, "/a")
	first.later(t, time.Hour)
	first.learn(siteA, policy.Named, shut)
	until := first.time.Add(heldFor)
	first.held(t, "at first", open, until)
	first.later(t, time.Second)

	for _, tc := range []struct {
		after time.Duration // of the change
		text  string        // that is read then, "" for none
		until time.Time
	}{
		{time.Minute, "", until},
		{time.Minute, shut, until},
		{time.Minute, shut + "# again\n", until},
		{time.Minute, open, time.Time{}},
		{time.Minute, "User-agent: *\nDisallow: /b\n", time.Time{}},
		{heldFor - time.Second, "", until},
		{heldFor, "", time.Time{}},
		{heldFor, shut, time.Time{}},
	} {
		again := newInstance(m, "first", until.Add(tc.after-heldFor)).guards(t)
		again.read(ctx)
		if tc.text != "" {
			again.learn(siteA, policy.Named, tc.text)
		}
		again.held(t, fmt.Sprintf("%v later, %q", tc.after, tc.text), open, tc.until)
	}

	unguarded := newInstance(m, "first", first.time)
	unguarded.read(ctx)
	unguarded.held(t, "without a change guard", open, time.Time{})
	unguarded.guards(t).read(ctx)
	unguarded.held(t, "with one again", open, until)
	unguarded.logged(t, "change guard: changes that were held back are held back for the rest of their time")
}

// TestAChangeDuringARestart knows what was served before.
func TestAChangeDuringARestart(t *testing.T) {
	ctx, m := t.Context(), newMemory()
	first := newInstance(m, "first", noon).guards(t)
	first.read(ctx)
	first.learn(siteA, policy.Named, open)
	first.served(siteA, "/a")
	first.later(t, time.Second)

	again := newInstance(m, "first", noon.Add(time.Hour)).guards(t)
	again.read(ctx)
	again.learn(siteA, policy.Named, shut)
	again.held(t, "after a change while it was down", open, again.time.Add(heldFor))

	late := newInstance(m, "first", noon.Add(ledger.ServedWindow)).guards(t)
	late.read(ctx)
	late.learn(siteA, policy.Named, shut)
	late.held(t, "a day after the visit", open, time.Time{})
}

// TestSiblingsAgreeAboutAHeldChange counts from when the first has noticed it.
func TestSiblingsAgreeAboutAHeldChange(t *testing.T) {
	ctx, m := t.Context(), newMemory()
	first, second := newInstance(m, "first", noon).guards(t), newInstance(m, "second", noon).guards(t)
	for _, i := range []*instance{first, second} {
		i.read(ctx)
		i.learn(siteA, policy.Named, open)
	}
	first.served(siteA, "/a") // second was never asked
	first.later(t, time.Second)
	second.time = first.time
	second.syncNotes(ctx)
	if second.state.changes.site(site{key: siteA}) == nil {
		t.Fatal("a sibling does not know what was served")
	}

	first.later(t, time.Hour)
	first.learn(siteA, policy.Named, shut)
	until := first.time.Add(heldFor)
	first.held(t, "the first", open, until)
	first.later(t, time.Second)
	second.time = first.time
	second.syncNotes(ctx)
	second.held(t, "the second, before it has noticed", open, time.Time{})
	second.time = first.time.Add(5 * time.Minute)
	second.learn(siteA, policy.Named, shut)
	second.held(t, "the second, at once", open, second.time.Add(heldFor))
	second.syncNotes(ctx)
	second.held(t, "the second, when it has heard of the first", open, until)
	second.later(t, time.Second)
	first.syncNotes(ctx)
	first.held(t, "the first, again", open, until)

	cold := newInstance(m, "third", second.time).guards(t)
	cold.read(ctx)
	cold.held(t, "one that starts", open, until)

	// Another sibling has read a mended file, and tells one that starts.
	mended := newInstance(m, "mended", second.time.Add(time.Minute)).guards(t)
	mended.read(ctx)
	mended.learn(siteA, policy.Named, "User-agent: *\nDisallow: /b\n")
	mended.held(t, "mended", open, time.Time{})
	mended.later(t, time.Second)
	cold = newInstance(m, "fourth", mended.time).guards(t)
	cold.read(ctx)
	cold.held(t, "one that starts with the mended file", open, time.Time{})
	for _, key := range m.keys() {
		if strings.Contains(key, "/mended/") {
			delete(m.values, key)
		}
	}

	// The file goes back and forth: what was held before says nothing any more.
	second.later(t, time.Hour)
	second.learn(siteA, policy.Named, open)
	second.held(t, "mended", open, time.Time{})
	second.later(t, time.Hour)
	second.learn(siteA, policy.Named, shut)
	second.held(t, "the next accident", open, second.time.Add(heldFor))
	first.time = second.time
	first.served(siteA, "/b") // it was not asked since, and writes its hold again
	first.later(t, time.Second)
	second.syncNotes(ctx)
	second.held(t, "the next accident, and a sibling's first", open, second.time.Add(heldFor))
}

// TestStoredVisits writes them seldom, but a hold at once.
func TestStoredVisits(t *testing.T) {
	m := newMemory()
	i := newInstance(m, "first", noon).guards(t)
	i.read(t.Context())
	i.learn(siteA, policy.Named, open)
	i.served(siteA, "/0")
	i.later(t, 0)
	before := m.writes
	for n := range 30 {
		i.served(siteA, fmt.Sprint("/", n))
		i.later(t, time.Second)
	}
	if m.writes != before {
		t.Errorf("%d writes in 30 s", m.writes-before)
	}
	i.later(t, time.Minute)
	if m.writes != before+1 {
		t.Errorf("%d writes after more than a minute", m.writes-before)
	}
	i.learn(siteA, policy.Named, shut)
	i.heldUntil(siteA)
	i.later(t, time.Second)
	if m.writes != before+3 { // the policy and the hold
		t.Errorf("%d writes after a change", m.writes-before)
	}
	if got := m.keys(); !slices.Contains(got, storageKey{"first", dirChanges, storageName(siteA)}.String()) {
		t.Errorf("stored are %v", got)
	}
}

// TestStorageAdopts knows again what the cache has dropped.
func TestStorageAdopts(t *testing.T) {
	ctx, m := t.Context(), newMemory()
	i := newInstance(m, "first", noon)
	i.state.wanted = make(chan policy.Key, maxWanted)
	i.state.cache.Resize(policy.Named, policy.Bounds{Entries: 1, Bytes: 1 << 20, Reads: 1})
	i.read(ctx)
	i.learn(siteA, policy.Named, open)
	i.later(t, time.Minute)
	i.learn(siteA, policy.Named, shut)
	i.later(t, time.Second)
	past := func() int { return len(i.state.cache.Get(siteA).Standing().Past) }
	drop := func() {
		for n := 0; i.state.cache.Get(siteA) != nil; n++ {
			i.state.cache.Add(namedKey(fmt.Sprint(n, ".test")), policy.Named)
		}
	}

	drop()
	i.learn(siteA, policy.Named, shut)
	if past() != 0 {
		t.Fatal("it was not dropped")
	}
	i.state.want(site{key: siteA, segment: policy.Named})
	i.adoptWanted(ctx)
	if past() != 1 {
		t.Error("the version before is not known again")
	}

	for _, text := range []string{shut, open} { // nobody has asked in time
		i.later(t, time.Minute)
		drop()
		i.learn(siteA, policy.Named, text)
		i.later(t, time.Second)
		if past() == 0 {
			t.Error("what was stored is replaced by less")
		}
	}

	// The file cannot be read any more.
	drop()
	i.state.cache.Add(siteA, policy.Named)
	i.state.want(site{key: siteA, segment: policy.Named})
	i.adoptWanted(ctx)
	if got := i.text(siteA); got != open {
		t.Errorf("got %q", got)
	}
	for range 2 * maxWanted { // does not block
		i.state.want(site{key: siteA, segment: policy.Named})
		i.state.want(site{key: siteA, segment: policy.Invented})
	}
}

// TestWaitsForTheStorage as a crawler waits for a first copy: Caddy may serve
// before it is known what is stored.
func TestWaitsForTheStorage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newScriptedOrigin(t, Handler{FetchWait: caddy.Duration(time.Second)})
		o.turns(down)
		stored, restored := context.WithCancel(t.Context())
		done := stored.Done()
		o.g.state.restored.Store(&done)
		took := func(userAgent, host string) time.Duration {
			start := time.Now()
			r := request(userAgent, "/private/x")
			r.Host = host
			o.g.judge(r)
			return time.Since(start)
		}
		if got := took("bingbot/2.0", "a.test"); got != time.Second {
			t.Errorf("a crawler waits %v", got)
		}
		if got := took("curl/8.7.1", "b.test"); got != 0 {
			t.Errorf("a library waits %v", got)
		}
		synctest.Wait()
		o.delay = time.Hour
		if got := took("bingbot/2.0", "c.test"); got != time.Second {
			t.Errorf("for a storage and an origin that hang a crawler waits %v", got)
		}
		time.Sleep(time.Minute) // so that nobody asks the origin any more
		synctest.Wait()
		o.delay = 0
		time.AfterFunc(time.Millisecond, func() {
			key := keyOf(request("", "/"))
			var s policy.Standing
			s = s.After(text(open), time.Now(), policy.Freshness{Max: time.Hour, Default: time.Hour}, 0)
			o.g.state.cache.Restore(key, policy.Named, s, true)
			restored()
		})
		o.expect("/private/x", verdictDisallowed, actionBlocked)
	})
}

// TestWaitsForAllOfTheStorage at the start: a version is restored before it is
// known who has read it.
func TestWaitsForAllOfTheStorage(t *testing.T) {
	for _, tc := range []struct {
		name    string
		cold    bool
		waits   time.Duration
		verdict verdict
	}{
		{"at the start", true, 100 * time.Millisecond, verdictDisallowed},
		{"after a reload", false, 0, verdictStale},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newScriptedOrigin(t, Handler{})
				stored, restored := context.WithCancel(t.Context())
				done := stored.Done()
				o.g.state.restored.Store(&done)
				o.g.state.cold.Store(tc.cold)
				r := request("bingbot/2.0", "/x")
				key := keyOf(r)
				holds := policy.Freshness{Max: time.Hour, Default: time.Hour}
				var s policy.Standing
				for _, robots := range []string{loose, strict} {
					s = s.After(text(robots), time.Now(), holds, 0)
					time.Sleep(time.Minute)
				}
				o.g.state.cache.Restore(key, policy.Named, s, true)
				time.AfterFunc(100*time.Millisecond, func() {
					reader := o.g.claimedReader(r, &judgement{client: o.g.app.registry.Identify("bingbot/2.0"), site: newSite(key)})
					o.g.state.readers.Read(reader, ledger.Reading{At: time.Now(), Status: 200, Hash: s.Good.Hash})
					restored()
				})
				start := time.Now()
				j := o.g.judge(r)
				if waited := time.Since(start); waited != tc.waits || j.verdict != tc.verdict {
					t.Errorf("waited %v, %s; want %v, %s", waited, j.verdict, tc.waits, tc.verdict)
				}
				time.Sleep(time.Second)
			})
		})
	}
}

// TestWaitsOnce for the storage and the origin together.
func TestWaitsOnce(t *testing.T) {
	for _, tc := range []struct {
		name            string
		storage, origin time.Duration // until they answer
		waits           time.Duration
		verdict         verdict
	}{
		{"both are quick", 100 * time.Millisecond, 200 * time.Millisecond, 300 * time.Millisecond, verdictDisallowed},
		{"the origin is slow", 600 * time.Millisecond, 600 * time.Millisecond, time.Second, verdictUnknown},
		{"the storage is slow", 2 * time.Second, time.Millisecond, time.Second, verdictUnknown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newScriptedOrigin(t, Handler{FetchWait: caddy.Duration(time.Second)})
				o.turns(text(strict))
				o.delay = tc.origin
				stored, restored := context.WithCancel(t.Context())
				done := stored.Done()
				o.g.state.restored.Store(&done)
				time.AfterFunc(tc.storage, restored)
				start := time.Now()
				j := o.g.judge(request("bingbot/2.0", "/x"))
				if waited := time.Since(start); waited != tc.waits || j.verdict != tc.verdict {
					t.Errorf("waited %v, %s; want %v, %s", waited, j.verdict, tc.waits, tc.verdict)
				}
				time.Sleep(time.Minute) // whatever goes on ends
			})
		})
	}
}

package guard

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestARestoredHoldIsLifted tests an instance that has not fetched the file yet which
// allows everything again.
func TestARestoredHoldIsLifted(t *testing.T) {
	i := newInstance(storetest.New(), "first", noon).guards(t)
	for _, text := range []string{open, shut, "User-agent: *\nDisallow: /b\n"} {
		i.learn(siteA, policy.ConfiguredHosts, text)
		i.time = i.time.Add(time.Minute)
	}
	state := i.shared.Cache.Get(siteA).State()
	good, first := state.Current, state.Previous[1]
	visit := ledger.CrawlerVisit{Crawler: "Googlebot", GroupNames: []string{"Googlebot"}, WildcardApplies: true, Host: "a.test", Target: "/a", At: noon}
	c := &i.shared.changeGuard
	c.Restore(ledger.ChangeGuardState{Site: siteA, ComparedVersion: good.Hash, FetchedAt: good.FirstFetched}, state, true)
	stale := ledger.ChangeGuardState{Site: siteA, ComparedVersion: state.Previous[0].Hash, FetchedAt: state.Previous[0].FirstFetched,
		Holds: []ledger.HeldVersion{{Version: first.Hash, HeldSince: first.ReplacedAt, HeldUntil: noon.Add(heldFor), Visits: []ledger.CrawlerVisit{visit}}}}
	if held, complete := c.Restore(stale, state, true); held != 1 || !complete {
		t.Fatalf("%d holds, complete: %t", held, complete)
	}
	if holds, news := c.UpdateHolds(siteA, state, heldFor, false); len(holds) != 0 || len(news.Lifted) != 1 {
		t.Errorf("%d holds, %d lifted", len(holds), len(news.Lifted))
	}
}

// TestHoldsThatCannotBeRestored checks that a stored hold waits for its version, but
// not after its end.
func TestHoldsThatCannotBeRestored(t *testing.T) {
	i := newInstance(storetest.New(), "first", noon).guards(t)
	i.learn(siteA, policy.ConfiguredHosts, open)
	current := i.shared.Cache.Get(siteA).State().Current
	for name, tc := range map[string]struct {
		hold     ledger.HeldVersion
		complete bool
	}{
		"of the current version": {ledger.HeldVersion{Version: current.Hash, HeldSince: noon, HeldUntil: noon.Add(time.Hour)}, false},
		"of an unknown version":  {ledger.HeldVersion{Version: [32]byte{1}, HeldSince: noon, HeldUntil: noon.Add(time.Hour)}, false},
		"that is over":           {ledger.HeldVersion{Version: [32]byte{1}, HeldSince: noon.Add(-time.Hour), HeldUntil: noon}, true},
		"of the future":          {ledger.HeldVersion{Version: [32]byte{1}, HeldSince: noon.Add(time.Hour), HeldUntil: noon.Add(2 * time.Hour)}, true},
	} {
		changes := ledger.ChangeGuardState{Site: siteA, ComparedVersion: current.Hash, FetchedAt: noon, Holds: []ledger.HeldVersion{tc.hold}}
		if held, complete := i.shared.changeGuard.Restore(changes, i.shared.Cache.Get(siteA).State(), true); held != 0 || complete != tc.complete {
			t.Errorf("a hold %s: %d holds, complete: %t", name, held, complete)
		}
	}
	if len(i.heldUntil(siteA)) != 0 {
		t.Error("something is held back")
	}
}

const shut = "User-agent: *\nDisallow: /\n"

// guards turns on the change guard of an instance.
func (i *guardInstance) guards(t *testing.T) *guardInstance {
	i.shared.changeGuard.AddUser(t.Context())
	return i
}

// served records that a search engine was served a page.
func (i *guardInstance) served(key policy.Key, target string) {
	e := i.shared.Cache.Get(key)
	i.shared.changeGuard.RecordServedPage(key, e.State().Current,
		ledger.CrawlerVisit{Crawler: "Googlebot", GroupNames: []string{"Googlebot"}, WildcardApplies: true, Host: "a.test", Target: ledger.RawText(target)})
}

// heldUntil returns the end of the hold of each version, by its text.
func (i *guardInstance) heldUntil(key policy.Key) map[string]time.Time {
	all := make(map[string]time.Time)
	holds, _ := i.shared.changeGuard.UpdateHolds(key, i.shared.Cache.Get(key).State(), heldFor, false)
	for _, h := range holds {
		all[h.Version.Robots.Text()] = h.End
	}
	return all
}

// held checks the end of the hold of the version with the given text. The zero time
// stands for no hold.
func (i *guardInstance) held(t *testing.T, what, text string, until time.Time) {
	t.Helper()
	all := i.heldUntil(siteA)
	if got := all[text]; !got.Equal(until) || until.IsZero() != (len(all) == 0) {
		t.Errorf("%s: held are %v, want until %v", what, all, until)
	}
}

const open = "User-agent: *\nDisallow: /private/\n"

// TestAHeldChangeOverARestart checks that a hold lasts for the rest of its time after a
// restart.
func TestAHeldChangeOverARestart(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	first := newInstance(m, "first", noon).guards(t)
	first.Read(ctx)
	first.learn(siteA, policy.ConfiguredHosts, open)
	first.served(siteA, "/a")
	first.later(t, time.Hour)
	first.learn(siteA, policy.ConfiguredHosts, shut)
	until := first.time.Add(heldFor)
	first.held(t, "at first", open, until)
	first.later(t, time.Second)

	for _, tc := range []struct {
		after time.Duration // since the change
		text  string        // robots.txt at that time, "" for none
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
		again.Read(ctx)
		if tc.text != "" {
			again.learn(siteA, policy.ConfiguredHosts, tc.text)
		}
		again.held(t, fmt.Sprintf("%v later, %q", tc.after, tc.text), open, tc.until)
	}

	unguarded := newInstance(m, "first", first.time)
	unguarded.Read(ctx)
	unguarded.held(t, "without a change guard", open, time.Time{})
	unguarded.guards(t).Read(ctx)
	unguarded.held(t, "with one again", open, until)
	unguarded.logged(t, "change guard: delayed changes were restored from the storage; each stays delayed until its time is over")
}

// TestAChangeDuringARestart checks that the pages served before a restart are still
// known.
func TestAChangeDuringARestart(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	first := newInstance(m, "first", noon).guards(t)
	first.Read(ctx)
	first.learn(siteA, policy.ConfiguredHosts, open)
	first.served(siteA, "/a")
	first.later(t, time.Second)

	again := newInstance(m, "first", noon.Add(time.Hour)).guards(t)
	again.Read(ctx)
	again.learn(siteA, policy.ConfiguredHosts, shut)
	again.held(t, "after a change while it was down", open, again.time.Add(heldFor))

	late := newInstance(m, "first", noon.Add(ledger.RecentVisitAge)).guards(t)
	late.Read(ctx)
	late.learn(siteA, policy.ConfiguredHosts, shut)
	late.held(t, "a day after the visit", open, time.Time{})
}

// TestSiblingsAgreeAboutAHeldChange checks that a hold begins when the first instance
// notices the change.
func TestSiblingsAgreeAboutAHeldChange(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	first, second := newInstance(m, "first", noon).guards(t), newInstance(m, "second", noon).guards(t)
	for _, i := range []*guardInstance{first, second} {
		i.Read(ctx)
		i.learn(siteA, policy.ConfiguredHosts, open)
	}
	first.served(siteA, "/a") // the second instance got no request
	first.later(t, time.Second)
	second.time = first.time
	second.Sync(ctx)
	if second.shared.changeGuard.FindSite(siteA) == nil {
		t.Fatal("a sibling does not know what was served")
	}

	first.later(t, time.Hour)
	first.learn(siteA, policy.ConfiguredHosts, shut)
	until := first.time.Add(heldFor)
	first.held(t, "the first", open, until)
	first.later(t, time.Second)
	second.time = first.time
	second.Sync(ctx)
	second.held(t, "the second, before it has noticed", open, time.Time{})
	second.time = first.time.Add(5 * time.Minute)
	second.learn(siteA, policy.ConfiguredHosts, shut)
	second.held(t, "the second, at once", open, second.time.Add(heldFor))
	second.Sync(ctx)
	second.held(t, "the second, when it has heard of the first", open, until)
	second.later(t, time.Second)
	first.Sync(ctx)
	first.held(t, "the first, again", open, until)

	cold := newInstance(m, "third", second.time).guards(t)
	cold.Read(ctx)
	cold.held(t, "one that starts", open, until)

	// Another instance has fetched a corrected file, which a new instance loads.
	mended := newInstance(m, "mended", second.time.Add(time.Minute)).guards(t)
	mended.Read(ctx)
	mended.learn(siteA, policy.ConfiguredHosts, "User-agent: *\nDisallow: /b\n")
	mended.held(t, "mended", open, time.Time{})
	mended.later(t, time.Second)
	cold = newInstance(m, "fourth", mended.time).guards(t)
	cold.Read(ctx)
	cold.held(t, "one that starts with the mended file", open, time.Time{})
	for _, key := range m.Keys() {
		if strings.Contains(key, "/mended/") {
			delete(m.Values, key)
		}
	}

	// The file changes back and forth. The earlier hold does not apply any more.
	second.later(t, time.Hour)
	second.learn(siteA, policy.ConfiguredHosts, open)
	second.held(t, "mended", open, time.Time{})
	second.later(t, time.Hour)
	second.learn(siteA, policy.ConfiguredHosts, shut)
	second.held(t, "the next accident", open, second.time.Add(heldFor))
	first.time = second.time
	first.served(siteA, "/b") // it got no request since, and stores its hold again
	first.later(t, time.Second)
	second.Sync(ctx)
	second.held(t, "the next accident, and a peer's first", open, second.time.Add(heldFor))
}

// TestStoredVisits checks that visits are stored rarely, but a hold at once.
func TestStoredVisits(t *testing.T) {
	m := storetest.New()
	i := newInstance(m, "first", noon).guards(t)
	i.Read(t.Context())
	i.learn(siteA, policy.ConfiguredHosts, open)
	i.served(siteA, "/0")
	i.later(t, 0)
	before := m.WriteAttempts
	for n := range 30 {
		i.served(siteA, fmt.Sprint("/", n))
		i.later(t, time.Second)
	}
	if m.WriteAttempts != before {
		t.Errorf("%d writes in 30 s", m.WriteAttempts-before)
	}
	i.later(t, time.Minute)
	if m.WriteAttempts != before+1 {
		t.Errorf("%d writes after more than a minute", m.WriteAttempts-before)
	}
	i.learn(siteA, policy.ConfiguredHosts, shut)
	i.heldUntil(siteA)
	i.later(t, time.Second)
	if m.WriteAttempts != before+3 { // the policy and the hold
		t.Errorf("%d writes after a change", m.WriteAttempts-before)
	}
	if got := m.Keys(); !slices.ContainsFunc(got, func(key string) bool { return strings.HasPrefix(key, "robots_guard/v1/first/changes/") }) {
		t.Errorf("stored are %v", got)
	}
}
